"""One card at one place: who gets a copy, which thread lines are sent once, and where a card goes if it can't
be shown.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.card import build_card
from bot.channels.contract import LookupFailed, Undeliverable
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health import Health
from bot.outbox.delivery import Delivery
from bot.people.directory import Directory
from bot.people.recipients import MAX_COPIES, TooFewDeciders
from hitl_core.model import MessageRef, Place
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store import Job, MemoryStore
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from tests.support.builders import call, person, policy, proposal, review_of
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reviews(clock: Clock) -> Reviews:
    return Reviews(MemoryStore(clock))


@pytest.fixture
def delivery(reviews: Reviews, channel: SlackChannel) -> Delivery:
    return Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())


async def submit(reviews: Reviews, **rule: object) -> str:
    """The id of a review under this rule."""
    review, event = review_of([call("it", x=1)], by=policy(it=rule))
    await reviews.submit(review, event)
    return review.id


async def posts(reviews: Reviews, review_id: str) -> set[Place]:
    return set((await reviews.load(review_id)).posts)


async def test_each_member_of_a_group_is_asked(reviews: Reviews, delivery: Delivery) -> None:
    review_id = await submit(reviews, notify="slack:S0OPS")
    await delivery.deliver(review_id, Place("slack:S0OPS"), again=False)
    assert await posts(reviews, review_id) == {"slack:S0OPS>U0CARL", "slack:S0OPS>U0DANA"}


async def test_a_named_person_gets_no_copy_of_the_group(
    reviews: Reviews, delivery: Delivery
) -> None:
    review_id = await submit(reviews, notify=["slack:S0OPS", "slack:U0DANA"])
    for place in (Place("slack:S0OPS"), Place("slack:U0DANA")):
        await delivery.deliver(review_id, place, again=False)
    assert await posts(reviews, review_id) == {"slack:S0OPS>U0CARL", "slack:U0DANA"}


async def test_members_of_a_large_group_are_not_asked_one_by_one(
    reviews: Reviews, delivery: Delivery, sandbox: Sandbox
) -> None:
    crowd = [f"U0CROWD{number:04}" for number in range(1, MAX_COPIES + 2)]
    sandbox.groups.set_members("S0OPS", crowd)
    review_id = await submit(reviews, notify="slack:S0OPS")
    with pytest.raises(Undeliverable, match=f"@ops has {MAX_COPIES + 1} members"):
        await delivery.deliver(review_id, Place("slack:S0OPS"), again=False)


async def test_each_thread_line_is_sent_once(
    reviews: Reviews, delivery: Delivery, clock: Clock, sandbox: Sandbox
) -> None:
    """Given two reminders; when the card is delivered before, between and after, also by another bot; then
    its thread has each line once."""
    review_id = await submit(reviews, remind="10s")
    for _ in range(3):
        for again in (False, True):
            await delivery.deliver(review_id, Place("default"), again=again)
        clock.now += 10
        await reviews.apply_due(review_id)
    replies = [m for m in sandbox.workspace.channels["C0APPROVE"].messages.values() if m.thread_ts]
    assert len(replies) == 2


async def test_a_fallback_that_fails_too_is_undeliverable(
    reviews: Reviews, delivery: Delivery
) -> None:
    review_id = await submit(reviews, notify="slack:C0OLD", fallback="slack:C0EMPTY")
    await delivery.deliver(review_id, Place("slack:C0OLD"), again=False)
    with pytest.raises(Undeliverable, match="not in this channel"):
        await delivery.deliver(review_id, Place("slack:C0EMPTY"), again=False)
    await delivery.deliver(
        review_id, Place("slack:C0OLD"), again=True
    )  # its fallback has it: that one waits


async def test_a_decided_review_needs_no_first_card(reviews: Reviews, delivery: Delivery) -> None:
    review_id = await submit(reviews, notify=["slack:#team-ops", "slack:C0OLD"])
    await delivery.deliver(review_id, Place("slack:#team-ops"), again=False)
    with pytest.raises(Undeliverable):
        await delivery.deliver(review_id, Place("slack:C0OLD"), again=False)
    yes = Proposal("approve", 1)
    await reviews.apply(Decide(review_id, "1", yes, person(), "op"))
    await delivery.deliver(review_id, Place("slack:C0OLD"), again=True)


async def test_a_person_named_for_one_action_gets_a_copy_for_the_other(
    reviews: Reviews, delivery: Delivery
) -> None:
    """Given one call for Carl and another for his group; then he has a message about each."""
    rules = policy(one={"notify": "slack:U0CARL"}, two={"notify": "slack:S0OPS"})
    review, event = review_of([call("one", "c1"), call("two", "c2")], by=rules)
    await reviews.submit(review, event)
    for place in (Place("slack:U0CARL"), Place("slack:S0OPS")):
        await delivery.deliver(review.id, place, again=False)
    expected = {"slack:U0CARL", "slack:S0OPS>U0CARL", "slack:S0OPS>U0DANA"}
    assert await posts(reviews, review.id) == expected


async def test_a_person_who_left_the_group_gets_no_update(
    reviews: Reviews, delivery: Delivery, sandbox: Sandbox, channel: SlackChannel
) -> None:
    """Given Carl, who had a copy; when he leaves the group and the call is edited, then his copy stays as
    it was."""
    review_id = await submit(
        reviews, notify="slack:S0OPS", reviewers={"groups": ["S0OPS"], "quorum": 2}
    )
    await delivery.deliver(review_id, Place("slack:S0OPS"), again=False)
    sandbox.groups.set_members("S0OPS", ["U0DANA"])
    edit = proposal("edit", x=2)
    await reviews.apply(Decide(review_id, "1", edit, person(), "op"))
    later = Delivery(
        reviews, Channels(channel), Directory(Channels(channel)), Health()
    )  # a minute later
    with pytest.raises(TooFewDeciders):
        await later.deliver(review_id, Place("slack:S0OPS"), again=False)
    shown = (await reviews.load(review_id)).shown
    assert shown[Place("slack:S0OPS>U0DANA")] > shown[Place("slack:S0OPS>U0CARL")] == 1


async def test_guests_and_bots_of_a_group_get_no_copy(
    reviews: Reviews, delivery: Delivery, sandbox: Sandbox
) -> None:
    """Given a group with guests, a person of another workspace, a bot and somebody who has left; then only
    its members get a copy, and the guest whom the policy names."""
    others = ["U0GINA", "U0SOLO", "U0SAM", "U0AGENT", "U0GONE"]
    sandbox.groups.set_members("S0OPS", ["U0DANA", *others])
    named = {"users": ["U0GINA"], "groups": ["S0OPS"]}
    for reviewers, asked in ((None, ["U0DANA"]), (named, ["U0DANA", "U0GINA"])):
        rule = {"reviewers": reviewers} if reviewers else {}
        review_id = await submit(reviews, notify="slack:S0OPS", **rule)
        await delivery.deliver(review_id, Place("slack:S0OPS"), again=False)
        assert await posts(reviews, review_id) == {f"slack:S0OPS>{one}" for one in asked}


async def test_a_group_of_guests_reaches_nobody(
    reviews: Reviews, delivery: Delivery, sandbox: Sandbox
) -> None:
    """Given a group in which only guests are left; then the review goes to the fallback, although Bob, whom
    the policy names, may decide."""
    sandbox.groups.set_members("S0OPS", ["U0GINA", "U0SOLO"])
    rule = {"reviewers": {"users": ["U0BOB"]}, "fallback": "slack:#team-ops"}
    review_id = await submit(reviews, notify="slack:S0OPS", **rule)
    await delivery.deliver(review_id, Place("slack:S0OPS"), again=False)
    [action] = (await reviews.load(review_id)).review.actions
    assert action.places == ("slack:S0OPS", "slack:#team-ops")
    assert not await posts(reviews, review_id)


async def test_a_member_about_whom_slack_does_not_answer_gets_a_copy_later(
    reviews: Reviews, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a group of two, about one of whom Slack gives no answer; then only the other one has a copy, and
    the delivery is tried again; as soon as Slack answers, both have one."""
    directory = Directory(Channels(channel))
    delivery = Delivery(reviews, Channels(channel), directory, Health())
    for known in ("U0BOB", "U0DANA"):
        await directory.lookups("slack").person(known)
    review_id = await submit(reviews, notify="slack:S0OPS", reviewers={"users": ["U0BOB"]})

    answer = '{"ok": false, "error": "user_not_visible"}'
    sandbox.faults.configure({"mode": "answer", "method": "users.info", "body": answer})
    with pytest.raises(LookupFailed):
        await delivery.deliver(review_id, Place("slack:S0OPS"), again=False)
    assert await posts(reviews, review_id) == {"slack:S0OPS>U0DANA"}

    sandbox.faults.configure({"mode": "ok"})
    await delivery.deliver(review_id, Place("slack:S0OPS"), again=True)
    assert await posts(reviews, review_id) == {"slack:S0OPS>U0CARL", "slack:S0OPS>U0DANA"}


async def test_a_card_that_is_drawn_again_is_not_shown_to_who_left_the_group(
    reviews: Reviews, delivery: Delivery, sandbox: Sandbox, channel: SlackChannel
) -> None:
    """Given Carl, who had a copy and left the group, and an edit since; when all cards are drawn again, as
    every hour, then his copy stays as it was."""
    review_id = await submit(reviews, notify="slack:S0OPS", reviewers={"users": ["U0DANA"]})
    await delivery.deliver(review_id, Place("slack:S0OPS"), again=False)
    sandbox.groups.set_members("S0OPS", ["U0DANA"])
    edit = proposal("edit", x=2)
    await reviews.apply(Decide(review_id, "1", edit, person(), "op"))
    later = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    job = Job("slack", 0, "m", "check", review_id, Place("slack:S0OPS"), "", "t", 1, 0.0)
    await later.run_job(job, again=False)
    shown = (await reviews.load(review_id)).shown
    assert shown[Place("slack:S0OPS>U0DANA")] > shown[Place("slack:S0OPS>U0CARL")] == 1


async def test_a_fallback_widens_nobodys_right_unless_nobody_is_left(
    reviews: Reviews, delivery: Delivery
) -> None:
    """Given reviewers that the policy names; when their channel can't be reached, then at the fallback
    still only they may decide; when all of them have left, then the fallback's people may."""
    for users, place, opened in (
        (["U0BOB"], Place("slack:C0OLD"), False),
        (["U0GONE"], Place("slack:#agent-approvals"), True),
    ):
        rule = {"users": users}
        review_id = await submit(reviews, notify=place, fallback="slack:#team-ops", reviewers=rule)
        await delivery.deliver(review_id, place, again=False)
        [action] = (await reviews.load(review_id)).review.actions
        assert action.places == (place, "slack:#team-ops")
        assert any(grant.includes_members for grant in action.grants) is opened


async def test_a_card_that_was_deleted_is_posted_again_while_it_waits(
    reviews: Reviews, delivery: Delivery, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a card that waits, when somebody deletes its message, then the next drawing posts it
    again, once; when the new message is deleted after the decision, nothing is posted."""
    place = Place("slack:#agent-approvals")
    people = {"channel_members": True, "quorum": 2}
    review_id = await submit(reviews, notify=place, reviewers=people)
    await delivery.deliver(review_id, place, again=False)
    first = (await reviews.load(review_id)).posts[place]
    await channel.delete(place, first)
    await reviews.apply(Decide(review_id, "1", proposal("approve"), person("Ada"), "op1"))
    for _ in range(2):
        await delivery.deliver(review_id, place, again=False)
    snapshot = await reviews.load(review_id)
    second = snapshot.posts[place]
    assert second.key != first.key
    assert (snapshot.shown[place], snapshot.review.delivery_problems) == (
        snapshot.review.version,
        {},
    )
    assert await channel.find_messages(place, review_id, 1.0) == [second]

    await channel.delete(place, second)
    await reviews.apply(Decide(review_id, "1", proposal("approve"), person("Bo"), "op2"))
    await delivery.deliver(review_id, place, again=False)
    assert await channel.find_messages(place, review_id, 1.0) == []


async def test_two_bots_replace_a_deleted_message_once(
    reviews: Reviews, delivery: Delivery, channel: SlackChannel
) -> None:
    """Promise 4: given two bots that both find that the message was deleted, then one message is left; and
    where the first bot died before it recorded its message, the next one finds it."""
    place = Place("slack:#agent-approvals")
    review_id = await submit(reviews, notify=place)
    await delivery.deliver(review_id, place, again=False)
    await channel.delete(place, (await reviews.load(review_id)).posts[place])
    other = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    await reviews.store.redraw(review_id, place)
    job = await reviews.store.take_job(place, "draw")
    assert job
    await asyncio.gather(*(one.run_job(job, again=False) for one in (delivery, other)))
    [left] = await channel.find_messages(place, review_id, 1.0)
    assert (await reviews.load(review_id)).posts == {place: left}

    await channel.delete(place, left)
    snapshot = await reviews.load(review_id)
    orphan = await channel.post(place, build_card(snapshot.review, place, snapshot.posts))
    await other.run_job(job._replace(first_at=1.0), again=True)
    assert await channel.find_messages(place, review_id, 1.0) == [orphan]
    assert (await reviews.load(review_id)).posts == {place: orphan}


async def test_a_message_that_can_neither_be_changed_nor_deleted_is_not_posted_twice(
    reviews: Reviews, delivery: Delivery, channel: SlackChannel, sandbox: Sandbox
) -> None:
    place = Place("slack:#agent-approvals")
    review_id = await submit(reviews, notify=place)
    await delivery.deliver(review_id, place, again=False)
    before = (await reviews.load(review_id)).posts
    await reviews.store.redraw(review_id, place)
    job = await reviews.store.take_job(place, "draw")
    assert job
    for verb in ("update", "delete"):
        answer = f'{{"ok": false, "error": "cant_{verb}_message"}}'
        sandbox.faults.configure({"mode": "answer", "method": f"chat.{verb}", "body": answer})
    with pytest.raises(Undeliverable, match="cant_delete_message"):
        await delivery.run_job(job, again=False)
    assert (await reviews.load(review_id)).posts == before
    assert len(await channel.find_messages(place, review_id, 1.0)) == 1


@pytest.mark.parametrize("place", [Place("slack:#agent-approvals"), Place("slack:U0ALICE")])
async def test_a_card_of_the_app_before_it_was_installed_anew_is_posted_anew(
    reviews: Reviews, delivery: Delivery, sandbox: Sandbox, place: Place
) -> None:
    """Given an app that was installed again, with another bot, which can neither change nor delete what the
    former one posted, nor see its direct messages; when a review changes, then its card is there again, and
    stays the only one of this bot. Nobody saw the change."""
    review_id = await submit(reviews, notify=place)
    await delivery.deliver(review_id, place, again=False)
    former = (await reviews.load(review_id)).posts[place]
    _install_anew(sandbox)
    client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
    channel = SlackChannel(client, "#agent-approvals", Health())
    await channel.start()
    newer = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())

    for _ in range(2):
        await reviews.store.redraw(review_id, place)
        job = await reviews.store.take_job(place, "draw")
        assert job
        await newer.run_job(job, again=False)
        await reviews.store.finish_job(job)

    [card] = await channel.find_messages(place, review_id, 1.0)
    loaded = await reviews.load(review_id)
    assert loaded.posts == {place: card}
    assert not loaded.review.delivery_problems
    assert card != former


def _install_anew(sandbox: Sandbox) -> None:
    """Another bot user and bot id, which is invited where the former one was."""
    former, app = sandbox.app.user_id, sandbox.app
    app.user_id, app.bot_id = "U0NEWBOT", "B0NEWBOT"
    users = sandbox.workspace.users
    users[app.user_id] = replace(users[former], id=app.user_id)
    for channel in sandbox.workspace.channels.values():
        if former in channel.members and not channel.is_im:
            channel.members = [*channel.members, app.user_id]


async def test_a_message_is_deleted_only_if_it_is_a_card_of_the_review(
    reviews: Reviews, delivery: Delivery, channel: SlackChannel
) -> None:
    """Given two reviews in one channel and a duplicate of the first card, when a click on the first review
    names the second one's card, then that card stays; when it names the duplicate, then this is deleted.
    """
    place = Place("slack:#agent-approvals")
    one, other = [await _submit_in(reviews, place, thread) for thread in ("one", "two")]
    for id in (one, other):
        await delivery.deliver(id, place, again=False)
    card, others_card = [(await reviews.load(id)).posts[place] for id in (one, other)]
    snapshot = await reviews.load(one)
    duplicate = await channel.post(place, build_card(snapshot.review, place, snapshot.posts))

    await delivery.run_job(_stray_job(one, place, others_card), again=False)
    assert await channel.find_messages(place, other, 1.0) == [others_card]

    await delivery.run_job(_stray_job(one, place, duplicate), again=False)
    assert await channel.find_messages(place, one, 1.0) == [card]


async def _submit_in(reviews: Reviews, place: Place, thread_id: str) -> str:
    """Submitted before the local Slack's first message."""
    rules = policy(it={"notify": place})
    review, event = review_of([call("it", x=1)], by=rules, thread_id=thread_id, now=1.0)
    await reviews.submit(review, event)
    return review.id


def _stray_job(review_id: str, place: Place, ref: MessageRef) -> Job:
    note = ref.model_dump_json()
    return Job("slack", 0, "m", "stray", review_id, place, note, "t", 1, 0.0)
