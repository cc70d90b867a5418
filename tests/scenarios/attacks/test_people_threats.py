"""Attacks and accidents: replays, guessed ids, stale buttons, one person on two levels, a slow Slack."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest

from hitl_core.errors import Refused
from hitl_core.model import Reviewer
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from hitl_core.store.redis.packing import unpack
from slack_sandbox.sandbox import SIGNING_SECRET
from tests.support.bots import POLICY, Scene
from tests.support.builders import call, review_of
from tests.support.clicks import forge_click, last_click, refusals, send
from tests.support.slack import OPS
from tests.support.slack import review_of as id_of
from tests.support.waiting import wait_until

TWO = POLICY + "reviewers: {channel_members: true, quorum: 2}\n"


async def test_a_click_sent_a_hundred_times_to_two_bots_is_one_vote(scene: Scene) -> None:
    """T22: given Alice's signed click; when it is replayed 100 times on two bots; then she has one vote, and
    the audit has one entry for it."""
    bots = [await scene.bot() for _ in range(2)]
    gate = await scene.gate(TWO)
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    click = await last_click(scene)

    urls = [bot.endpoints["slack"] for bot in bots] * 50
    await asyncio.gather(*(send(scene, click, url) for url in urls))

    review = (await gate.reviews.load(id_of(card))).review
    assert [vote.by.id for vote in review.actions[0].votes] == ["U0ALICE"]
    assert not waiting.done()
    assert await scene.alice.notices() == []
    redis = await scene.redis()
    events = [unpack(entry[b"event"]) for _, entry in await redis.xrange("hitl:{0}:audit")]
    assert len([event for event in events if b'"kind":"voted"' in event]) == 1


async def test_one_person_has_one_vote_at_all_levels(scene: Scene) -> None:
    """T31: given a quorum of two, and Alice, who is asked in the channel and again by the escalation; when
    she approves in both; then she counts once."""
    await scene.bot()
    chain = "escalate: [{after: 1h, to: slack:U0ALICE}]\n"
    gate = await scene.gate(TWO + chain)
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    await scene.card("1 of 2")
    await scene.bob.press(card, "escalate")
    await scene.bob.submit()
    again = await scene.card("send_email", channel="D0ALICE", viewer="U0ALICE")

    await scene.alice.press(again, "approve")

    await wait_until("she gets a notice", scene.alice.notices)
    assert "already" in await scene.alice.last_notice()
    assert not waiting.done()


async def test_a_click_from_another_workspace_changes_nothing(scene: Scene) -> None:
    """T36: given clicks that Slack signed of people with the ids of ours and another team; then none changes
    anything."""
    await scene.bot()
    gate = await scene.gate(TWO)
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    for person, team in itertools.product(("U0BOB", "U0MARIA"), ("T0OTHER", "T0GLOBEX")):
        click = await forge_click(scene, card, "approve", person)
        click["user"]["team_id"] = team
        click["trigger_id"] = f"{person}.{team}"
        await send(scene, click)
    of_no_team = await forge_click(scene, card, "approve", "U0BOB")
    of_no_team["user"]["team_id"] = ""
    url = scene.sandbox.bot_url or ""
    assert (await scene.actor.send_payload(url, of_no_team, SIGNING_SECRET))[0] == 400
    [action] = (await gate.reviews.load(id_of(card))).review.actions
    assert [vote.by.id for vote in action.votes] == ["U0ALICE"]


async def test_a_stranger_who_guesses_gets_one_answer(scene: Scene) -> None:
    """T37: given a stranger with a review's id and with ids of none; then both get the same sentence."""
    await scene.bot()
    gate = await scene.gate(TWO)
    scene.ask(gate)
    card = await scene.card("send_email")
    real = id_of(card)
    guesses = [f"{real}.1.1", f"{real}.9.1", f"0-{'0' * 32}.1.1", f"7-{'a' * 32}.1.1", "x.1"][1:]
    await scene.stranger.press(card, "approve")
    for guess in guesses:
        click = await forge_click(scene, card, "approve", scene.stranger.id, f"approve.{guess}")
        await send(scene, click)
    text = await scene.stranger.notices()
    assert set(text) == {"Only people of this workspace or organization may decide."}
    assert len(text) == len(guesses) + 1


async def test_a_button_of_another_revision_changes_nothing(scene: Scene) -> None:
    """T42: given a card at revision 2; when buttons of revisions 1 and 3 are pressed; then both are told, and
    nothing changes. The same for an Escalate button from before the escalation."""
    await scene.bot()
    gate = await scene.gate(TWO + 'escalate: [{after: 1h, to: "slack:#team-ops"}]\n')
    waiting = scene.ask(gate)
    first = await scene.card("send_email")
    await scene.bob.press(first, "edit")
    assert (await scene.bob.submit(copies=3))["ok"]
    edited = await scene.card("edited by")

    for revision in (1, 3):
        forged = f"approve.{id_of(first)}.1.{revision}"
        await send(scene, await forge_click(scene, first, "approve", "U0ALICE", forged))
    assert await refusals(scene) == [("U0ALICE", "stale")] * 2

    await scene.alice.press(edited, "escalate")
    await scene.alice.submit()
    await scene.card("send_email", channel=OPS)
    [action] = (await gate.reviews.load(id_of(first))).review.actions
    assert (len(action.votes), len(action.escalations)) == (0, 1)
    assert not waiting.done()


@pytest.fixture
async def two_bots(redis_url: str) -> AsyncIterator[list[Reviews]]:
    stores = [await RedisStore.open(redis_url) for _ in range(2)]
    yield [Reviews(store) for store in stores]
    for store in stores:
        await store.close()


async def test_a_thousand_races_have_a_thousand_ends(two_bots: list[Reviews]) -> None:
    """T41: given a thousand reviews; when on two replicas one person approves and another rejects each at
    once; then each has exactly one decision, and every loser is told of it."""
    people = [Reviewer(channel="slack", team="T1", id=f"U{n}", name=f"P{n}") for n in (1, 2)]
    lost: list[str] = []

    async def race(number: int) -> None:
        review, event = review_of([call("ask", n=number)], thread_id=f"t-{number}")
        await two_bots[0].submit(review, event)

        async def decide(at: int) -> None:
            proposal = Proposal("reject" if (number + at) % 2 else "approve", 1)
            try:
                await two_bots[at].apply(Decide(review.id, "1", proposal, people[at], f"op-{at}"))
            except Refused as refused:
                lost.append(refused.code)

        await asyncio.gather(decide(number % 2), decide(1 - number % 2))
        [action] = (await two_bots[0].load(review.id)).review.actions
        assert action.decision is not None

    for start in range(0, 1000, 50):
        await asyncio.gather(*map(race, range(start, start + 50)))
    assert lost == ["already_decided"] * 1000


async def calls_of(scene: Scene, since: int) -> list[str]:
    """The look-ups that the bot made for a click, without its posts."""
    made = [call["method"] for call in scene.sandbox.api.calls[since:]]
    return sorted(method for method in made if not method.startswith(("chat.", "response_url")))


async def members_change(scene: Scene) -> None:
    """The bot forgets who belongs to the channel, which it looked up as it posted the card."""
    scene.sandbox.channels.join("C0APPROVE", "U0GINA")
    await scene.sandbox.events.wait_delivered()


async def test_a_click_costs_two_look_ups_and_the_next_one_none(scene: Scene) -> None:
    """Given a bot without cached people, because the members have just changed; then the first click asks who
    this is and who the members are, and a second one within the minute asks nothing."""
    await scene.bot()
    gate = await scene.gate()
    cards = []
    for thread in ("one", "two"):
        scene.ask(gate, thread_id=thread)
        cards.append(await scene.card(f"thread “{thread}”"))
    await scene.all_shown()
    await members_change(scene)

    found: list[list[str]] = []
    for card in cards:
        before = len(scene.sandbox.api.calls)
        await scene.bob.press(card, "approve")
        found.append(await calls_of(scene, before))
    assert found == [["conversations.members", "users.info"], []]


@pytest.mark.parametrize("method", ["users.info", "conversations.members"])
async def test_where_slack_hangs_the_person_is_told_in_time(scene: Scene, method: str) -> None:
    """Given a Slack that doesn't answer who somebody is; then the click is refused with a sentence within
    its 3 s, nothing is decided, and when Slack answers again the next click counts."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    await members_change(scene)
    await scene.actor.inject_fault("hang", method=method)

    assert (await scene.bob.press(card, "approve"))["ok"]
    assert "could not be looked up" in await scene.bob.last_notice()
    assert not waiting.done()

    await scene.actor.inject_fault("ok")
    await scene.bob.press_until(waiting.done, card, "approve")
    assert (await waiting).execute


async def test_every_refused_look_is_in_the_audit(scene: Scene) -> None:
    """Given Carl, who may not decide; when he presses each button of the card, also those that only open a
    modal, and when Alice submits a form of what was decided before; then the audit has an entry for each."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    for action_id in ("approve", "edit", "reject"):
        await scene.carl.press(card, action_id)
    assert await refusals(scene) == [("U0CARL", "not_permitted")] * 3

    await scene.alice.press(card, "reject")
    await scene.bob.press(card, "approve")
    assert (await waiting).execute
    await scene.alice.submit(message="too late")
    (*_, last) = await refusals(scene)
    assert last == ("U0ALICE", "already_decided")
