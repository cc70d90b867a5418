"""What a person sees of a review outside its messages: `/approvals show`, and the Review that a Home
opens."""

from __future__ import annotations

from typing import Any

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.inbox import Inbox
from bot.people import Directory
from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Place, Review, Reviewer
from hitl_core.review import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.server import Sandbox
from tests.support.builders import START, approve_all, call, policy, review_of

MARIA, OPS = Place("slack:U0MARIA"), Place("slack:#team-ops")
BOTH, ONE = {"users": ["U0MARIA", "U0BOB", "U0DANA"]}, {"users": ["U0MARIA"]}


class World:
    """A review of two actions at one place, of which only one is for Bob and Dana too."""

    def __init__(self, channel: SlackChannel) -> None:
        self.reviews = Reviews(MemoryStore(lambda: START))
        self.inbox = Inbox(self.reviews, Directory(Channels(channel)))

    async def ask(self, place: Place, **hidden: Any) -> Review:
        rules = policy(
            pay={"notify": place, "reviewers": ONE, **hidden},
            mail={"notify": place, "reviewers": BOTH},
        )
        calls = [call("pay", "c1", salary="a secret"), call("mail", "c2", text="hello")]
        review, event = review_of(calls, by=rules)
        return await self.reviews.submit(review, event)

    async def seen_by(self, id: str, review: Review) -> tuple[str, list[str]]:
        """The card of `/approvals show`, and each page of the Review from a Home."""
        who = Reviewer(channel="slack", team="T0ACME", id=id, name=id)
        card = await self.inbox.reader.card(review.id, who)
        pages = [
            await self.inbox.reader.first_action(review.id, number, None, who)
            for number in range(2)
        ]
        return repr(card), [repr(page) for page in pages]


@pytest.fixture
def world(channel: SlackChannel) -> World:
    return World(channel)


async def test_a_person_sees_no_action_of_others_in_anothers_chat(world: World) -> None:
    """Given two actions in Maria's own chat, one of which Bob may decide too; when he asks for the card or
    for the Review, then neither shows him the other one: not its tool, and not its arguments. Maria sees
    both."""
    review = await world.ask(MARIA)
    card, pages = await world.seen_by("U0BOB", review)
    for shown in (card, *pages):
        assert "hello" in shown
        assert "secret" not in shown
        assert "'pay'" not in shown
    card, pages = await world.seen_by("U0MARIA", review)
    for text, page in zip(("a secret", "hello"), pages, strict=True):
        assert text in card
        assert text in page


async def test_who_is_in_the_channel_of_the_card_sees_all_of_it(world: World) -> None:
    """Given two actions in #team-ops; then Dana, who is there, sees both, as on the card, and Bob, who is
    not, only his own."""
    review = await world.ask(OPS)
    ref = MessageRef(channel="slack", conversation="C0OPS", ts="1.1")
    await world.reviews.store.record_post(review.id, OPS, ref)
    card, pages = await world.seen_by("U0DANA", review)
    assert "a secret" in card
    assert "a secret" in pages[0]
    card, pages = await world.seen_by("U0BOB", review)
    assert "secret" not in f"{card} {pages}"


async def test_while_it_is_unknown_who_is_there_nobody_sees_more_than_their_own(
    world: World, sandbox: Sandbox
) -> None:
    review = await world.ask(OPS)
    ref = MessageRef(channel="slack", conversation="C0OPS", ts="1.1")
    await world.reviews.store.record_post(review.id, OPS, ref)
    sandbox.faults.configure({"mode": "answer", "method": "conversations.members", "status": 503})
    card, pages = await world.seen_by("U0DANA", review)
    assert "hello" in card
    assert "secret" not in f"{card} {pages}"


async def test_what_hides_values_hides_the_agents_texts_also_on_a_part_of_the_review(
    world: World,
) -> None:
    """Given a hidden value in the action of others; then the agent's texts about Bob's own action stay hidden
    from him: one of them may quote the value."""
    review = await world.ask(MARIA, redact=["/salary"])
    assert review.hides_values
    who = Reviewer(channel="slack", team="T0ACME", id="U0BOB", name="Bob")
    seen, _ = await world.inbox.access.find_place(review.id, None, who)
    assert [action.name for action in seen.review.actions] == ["mail"]
    assert seen.review.hides_values


async def test_what_became_of_the_actions_of_others_is_not_shown(world: World) -> None:
    """Given both actions approved; then Bob's card says so of his own one only."""
    review = await world.ask(MARIA)
    await approve_all(world.reviews, review.id)
    card, pages = await world.seen_by("U0BOB", review)
    assert "'pay'" not in f"{card} {pages}"
    assert "mail" in card


async def test_whether_one_may_decide_there_is_unknown_if_it_is_unknown_for_one_action(
    channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given two actions at one place, one for a group of which Slack says nothing now, and one for others;
    when Bob asks for that place, where he may decide another action elsewhere, then he is told to try again,
    and not that he may not decide."""
    reviews = Reviews(MemoryStore(lambda: START))
    access = Inbox(reviews, Directory(Channels(channel))).access
    rules = policy(
        pay={"notify": OPS, "reviewers": {"groups": ["S0OPS"]}},
        mail={"notify": OPS, "reviewers": ONE},
        tidy={"notify": MARIA, "reviewers": BOTH},
    )
    calls = [call(name, f"c{number}") for number, name in enumerate(("pay", "mail", "tidy"))]
    review, event = review_of(calls, by=rules)
    await reviews.submit(review, event)
    sandbox.faults.configure({"mode": "http_500", "method": "usergroups.users.list"})
    bob = Reviewer(channel="slack", team="T0ACME", id="U0BOB", name="Bob")
    with pytest.raises(Refused) as refused:
        await access.load_at_place(review.id, OPS, bob)
    assert refused.value.code == "unavailable"
