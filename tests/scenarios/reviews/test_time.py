"""What time does to a review: escalation steps, reminders and deadlines, once and in order, with any number
of bots.
"""

from __future__ import annotations

import asyncio

import pytest

from hitl_core import Gate
from hitl_core.errors import Refused
from hitl_core.model import Reviewer
from hitl_core.review import Cancel, Decide
from hitl_core.review.edits import proposal
from hitl_core.review.reminders import LAST_STEP_REMINDER
from tests.support.aging import age
from tests.support.bots import POLICY, QUICK, Scene, email
from tests.support.clicks import forge_click, refusals, send
from tests.support.slack import APPROVALS, OPS, Message, buttons, review_of, text_of
from tests.support.waiting import wait_until

MINUTE, HOUR = 60, 3600
CHAIN = """
escalate:
  - {after: 10m, to: "slack:#team-ops", reviewers: {groups: [S0OPS]}}
  - {after: 20m, to: "slack:S0FINANCE"}
  - {after: 30m, to: "slack:U0GINA", reviewers: {users: [U0GINA]}}
"""


def policy(**keys: str) -> str:
    return POLICY + "".join(f"{key}: {value}\n" for key, value in keys.items())


async def passes(gate: Gate, card: Message, seconds: float) -> None:
    """Time goes by for the card's review, once it is known where the card is shown."""
    await age(gate.reviews, review_of(card), seconds)


async def replies(scene: Scene, card: Message, viewer: str = "U0ALICE") -> list[str]:
    return [text_of(one) for one in await scene.actor.replies(card["channel"], card["ts"], viewer)]


async def replies_below(scene: Scene, card: Message, words: str) -> list[str]:
    """The replies in the card's thread, once one of them has these words."""

    async def find_reply() -> list[str]:
        below = await replies(scene, card)
        return below if any(words in reply for reply in below) else []

    return await wait_until(f"{words!r} in the thread", find_reply)


async def test_a_chain_goes_on_to_a_channel_a_group_and_a_person(scene: Scene) -> None:
    """Given a chain of three steps; when each is due, then it is shown there and calls its people, who may
    decide; the messages before say where it went, and their buttons are good."""
    await scene.bot()
    gate = await scene.gate(POLICY + CHAIN)
    waiting = scene.ask(gate, email("c1"), email("c2"), email("c3"))
    first = await scene.card("send_email")
    await scene.wait_noted(gate, first)

    await passes(gate, first, 10 * MINUTE)
    ops = await scene.card("please decide", "first message", channel=OPS)
    assert "not decided in time" in text_of(ops)
    await scene.card("Escalated to #team-ops")
    rung = await scene.actor.notifications("U0DANA")
    assert [(each["channel"], each["why"]) for each in rung] == [(OPS, "group")]
    assert first["ts"].replace(".", "") in str(ops["blocks"])  # the link to the first message

    await passes(gate, first, 10 * MINUTE)
    maria = await scene.card("send_email", channel="D0MARIA", viewer="U0MARIA")
    await passes(gate, first, 10 * MINUTE)
    gina = await scene.card("send_email", channel="D0GINA", viewer="U0GINA")
    assert "#team-ops" in text_of(gina)

    await scene.person("U0GINA").press(gina, "approve", 1)
    await scene.dana.press(ops, "approve", 2)
    await scene.alice.press(first, "approve", 3)
    assert len((await waiting).execute) == 3
    for channel, viewer in ((APPROVALS, "U0ALICE"), (OPS, "U0DANA"), (maria["channel"], "U0MARIA")):
        await scene.card("approved by U0GINA", "approved by U0DANA", channel=channel, viewer=viewer)


async def test_the_word_of_why_goes_with_the_escalation(scene: Scene) -> None:
    """Given Escalate pressed with a word of why; then the new message says who passed it on and why, and
    so does the thread of the first one."""
    await scene.bot()
    gate = await scene.gate(POLICY + CHAIN)
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    await scene.alice.press(card, "escalate")
    [view] = (await scene.actor.state("U0ALICE"))["views"]
    [field] = [block["block_id"] for block in view["blocks"] if block["type"] == "input"]
    assert (await scene.actor.submit("U0ALICE", {field: "I don't know this customer"}))["ok"]

    await scene.card("Passed on from", "I don't know this customer", channel=OPS)
    below = await replies_below(scene, card, "escalated to")
    assert "I don't know this customer" in below[0]


@pytest.mark.every_reply
async def test_who_is_still_needed_is_reminded_in_the_thread_once(scene: Scene) -> None:
    """Given three bots, and a reminder every 15 minutes; when Bob has approved and 15 minutes pass, then
    the thread has one reminder, of Carl alone; and 15 minutes later one more."""
    bots = [await scene.bot() for _ in range(3)]
    rule = "{users: [U0BOB, U0CARL], quorum: 2}"
    gate = await scene.gate(policy(remind="15m", reviewers=rule))
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.bob.press(card, "approve")
    await scene.card("1 of 2")

    for count in (1, 2):
        await passes(gate, card, 15 * MINUTE)
        await asyncio.gather(*(bot.workers.timers.tick() for bot in bots if bot.workers))

        async def find_reminders(count: int = count) -> bool:
            return len(await replies(scene, card)) == count

        await wait_until(f"{count} reminders", find_reminders)
        await scene.all_shown()
        below = await replies(scene, card)
        assert len(below) == count
        assert "U0CARL" in below[-1]
        assert "U0BOB" not in below[-1]
    review = (await gate.reviews.load(review_of(card))).review
    assert len(review.actions[0].reminded) == 2


@pytest.mark.parametrize("fault", ["http_500", "ratelimited"])
async def test_a_reminder_that_slack_did_not_take_is_posted_again(scene: Scene, fault: str) -> None:
    await scene.bot()
    gate = await scene.gate(policy(remind="15m"))
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    await scene.actor.inject_fault(fault, method="chat.postMessage", times=1)

    await passes(gate, card, 15 * MINUTE)

    assert len(await replies_below(scene, card, "")) == 1


async def test_after_the_last_step_and_without_a_deadline_it_is_reminded(scene: Scene) -> None:
    """Given a chain that has ended, no deadline and no `remind`; then after four hours its people are
    reminded."""
    await scene.bot()
    gate = await scene.gate(POLICY + 'escalate: [{after: 10m, to: "slack:#team-ops"}]')
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    await passes(gate, card, 10 * MINUTE)
    ops = await scene.card("send_email", channel=OPS)

    await passes(gate, card, LAST_STEP_REMINDER)

    async def find_reminders() -> list[str]:
        return await replies(scene, ops, "U0DANA")

    assert "still waits" in (await wait_until("a reminder", find_reminders))[0]


async def test_the_clock_starts_with_the_post_where_the_policy_says_so(scene: Scene) -> None:
    """Given `clock: delivered` and a Slack that is down for an hour; then the deadline is counted from the
    post, and the card says when it is."""
    gate = await scene.gate(policy(clock="delivered", expire="{after: 30m, decision: ignore}"))
    waiting = scene.ask(gate)
    await scene.bot()
    await scene.actor.inject_fault("http_500", method="chat.postMessage")
    await scene.calls("chat.postMessage", 1)
    [review_id] = await gate.reviews.store.live_ids()
    await age(gate.reviews, review_id, HOUR)
    await scene.calls("chat.postMessage", 2)
    assert not waiting.done()

    await scene.actor.inject_fault("ok")
    card = await scene.card("skipped unless decided in time", timeout=30)

    async def has_clock() -> bool:
        return (await gate.reviews.load(review_id)).review.actions[0].delivered_at is not None

    await wait_until("the clock runs", has_clock)
    assert "date^" in str(card["blocks"]) or await scene.card("skipped unless")
    await passes(gate, card, 30 * MINUTE)
    assert (await waiting).execute == ()


async def test_the_clock_starts_at_the_fallback_as_well(scene: Scene) -> None:
    """Given `clock: delivered` and a place that can't be reached; then the clock starts with the card at
    the fallback."""
    await scene.bot()
    rules = policy(
        clock="delivered",
        expire="{after: 30m, decision: ignore}",
        notify='"slack:C0OLD"',
        fallback='"slack:#team-ops"',
    )
    gate = await scene.gate(rules)
    waiting = scene.ask(gate)
    card = await scene.card("send_email", channel=OPS)

    async def has_clock() -> bool:
        return (await gate.reviews.load(review_of(card))).review.actions[0].clock_start is not None

    await wait_until("the clock runs", has_clock)
    await passes(gate, card, 30 * MINUTE)
    assert (await waiting).execute == ()


async def test_a_late_bot_catches_up_in_order(scene: Scene) -> None:
    """Fault K3: given two reviews that nobody saw for hours while no bot ran, one past its deadline and one
    past two steps; when a bot starts, then the first expires and escalates nowhere, and the second takes both
    steps."""
    expiring = await scene.gate(
        POLICY + CHAIN + "expire: {after: 1h, decision: respond, message: Later}"
    )
    chained = await scene.gate(POLICY + CHAIN)
    expired, stepped = (
        scene.ask(expiring, thread_id="expires"),
        scene.ask(chained, thread_id="steps"),
    )

    async def both() -> list[str]:
        found = await chained.reviews.store.live_ids()
        return found if len(found) == 2 else []

    ids = await wait_until("both are stored", both)
    for review_id in ids:
        late = (await chained.reviews.load(review_id)).review.thread_id == "expires"
        await age(chained.reviews, review_id, 2 * HOUR if late else 25 * MINUTE)

    await scene.bot(QUICK)

    assert [answer.content for answer in (await expired).answers] == ["Later"]
    await scene.card("thread “steps”", channel=OPS)
    await scene.card("thread “steps”", channel="D0MARIA", viewer="U0MARIA")
    assert not stepped.done()
    assert all(
        "thread expires" not in text_of(card) for card in await scene.actor.messages(OPS, "U0DANA")
    )


async def test_a_cancelled_review_says_so_and_late_clicks_are_told(scene: Scene) -> None:
    """Given a review that its agent withdraws after it was escalated; then both cards say so and have no
    buttons, and a click that was on its way is told."""
    await scene.bot()
    gate = await scene.gate(POLICY + CHAIN)
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    await passes(gate, card, 10 * MINUTE)
    await scene.card("send_email", channel=OPS)
    scene.ask(gate, thread_id="other")
    await scene.alice.press(await scene.card("thread “other”"), "approve")
    late = await forge_click(scene, card, "approve", "U0BOB")

    await gate.reviews.apply(
        Cancel(review_of(card), None, "stop", reason="The user wrote something new.")
    )
    for channel in (APPROVALS, OPS):
        shown = await scene.card("cancelled by the agent", channel=channel)
        assert not buttons(shown, "approve")
    await send(scene, late)
    assert await refusals(scene) == [("U0BOB", "cancelled")]


async def test_people_and_the_deadline_race_and_one_of_them_wins(scene: Scene) -> None:
    """T41: given an hour to decide; when Bob approves and Alice rejects at the very moment at which it is
    over, many times; then each review has one decision, and exactly what was approved runs."""
    await scene.bot()
    gate = await scene.gate(policy(expire="{after: 1h}"))
    alice = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice")
    reject = proposal.Proposal("reject", 1, "No")
    for number in range(15):
        waiting = scene.ask(gate, thread_id=f"race-{number}")
        card = await scene.card(f"thread “race-{number}”")
        await scene.wait_noted(gate, card)
        _, lost, _ = await asyncio.gather(
            scene.bob.press(card, "approve"),
            gate.reviews.apply(Decide(review_of(card), "1", reject, alice, "reject")),
            passes(gate, card, HOUR),
            return_exceptions=True,
        )
        outcome = await waiting
        [action] = (await gate.reviews.load(review_of(card))).review.actions
        assert action.decision is not None
        assert isinstance(lost, Refused) != (action.decision.by == alice)
        assert bool(outcome.execute) == (action.decision.type == "approve")
