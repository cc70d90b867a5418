"""Promise 9: a deadline settles as the policy says, time and people escalate, and silence never approves."""

from __future__ import annotations

import asyncio

from tests.support.bots import POLICY, QUICK, Scene, email, sql
from tests.support.slack import OPS, buttons, review_of, text_of
from tests.support.waiting import wait_until

SOON = POLICY + 'escalate: [{after: 1s, to: "slack:#team-ops"}]'
TWO_PLACES = """
default: review
interrupt_on:
  send_email: {notify: "slack:#team-ops"}
  run_sql: {escalate: [{after: 1s, to: "slack:#team-ops", reviewers: {users: [U0DANA]}}]}
"""
LATER = POLICY + 'escalate: [{after: 1h, to: "slack:#team-ops"}]'


async def test_promise_9_a_deadline_settles_by_the_policy(scene: Scene) -> None:
    """Given a review that nobody decides; when its deadline comes, then the policy's answer counts, nothing
    runs, and the card says that nobody decided."""
    await scene.bot()
    respond = "expire: {after: 1s, decision: respond, message: Ask again tomorrow}"
    gate = await scene.gate(POLICY + respond)
    waiting = scene.ask(gate, email(), sql())
    await scene.alice.press(await scene.card("send_email"), "approve", 1)

    outcome = await waiting

    assert [call.id for call in outcome.execute] == ["c1"]  # what a person approved in time
    assert [a.content for a in outcome.answers] == ["Ask again tomorrow"]
    card = await scene.card("answered by", "nobody decided in time")
    assert not buttons(card, "approve")


async def test_promise_9_time_escalates_and_everybody_may_decide(scene: Scene) -> None:
    """Given a review that nobody decides; when its step is due, then it is shown in #team-ops too, the
    first message says so, and either channel's members may decide: both buttons work."""
    await scene.bot()
    gate = await scene.gate(SOON)
    waiting = scene.ask(gate, email("c1"), email("c2"))
    first = await scene.card("send_email")

    escalated = await scene.card("Escalated", channel=OPS)
    text = text_of(await scene.card("Escalated to #team-ops", "not decided in time"))
    assert "#agent-approvals and #team-ops" in text
    await scene.dana.press(escalated, "approve", 1)
    await scene.alice.press(first, "approve", 2)

    assert [call.id for call in (await waiting).execute] == ["c1", "c2"]
    for channel in ("C0APPROVE", OPS):
        await scene.card("approved by U0DANA", "approved by U0ALICE", channel=channel)


async def test_a_step_to_a_place_with_the_card_is_told_in_its_thread(scene: Scene) -> None:
    """Given a review of which one call is shown in #team-ops, and another one escalates there, to Dana; then
    a line in the thread of that card calls her: the card only changed, which notifies nobody."""
    await scene.bot()
    gate = await scene.gate(TWO_PLACES)
    await gate.submit([email(), sql()], thread_id="t-1")
    card = await scene.card("send_email", "run_sql", channel=OPS)

    async def thread_lines() -> list[str]:
        messages = (await scene.actor.state("U0DANA"))["messages"][OPS]
        return [text_of(m) for m in messages if m["thread_ts"] == card["ts"]]

    await wait_until("a line", thread_lines)
    [line] = [text for text in await thread_lines() if "escalated" in text]
    assert line.startswith("↗ run_sql escalated to #team-ops")
    assert line.endswith("because nobody decided in time U0DANA , please decide")


async def test_promise_9_before_it_is_escalated_the_others_may_not_decide(scene: Scene) -> None:
    """Given a review that is shown only in #agent-approvals; when Dana of #team-ops presses Approve or
    Escalate, then she is refused; after Alice escalated and said why, Dana reads it and may decide."""
    await scene.bot()
    gate = await scene.gate(LATER)
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email", "Escalate to #team-ops")
    await scene.dana.press(card, "approve")
    await scene.dana.press(card, "escalate")
    assert len(await scene.dana.notices()) == 2
    assert await scene.cards(OPS) == []

    await scene.alice.press(card, "escalate")
    assert (await scene.alice.submit(message="She is on leave"))["ok"]
    await scene.card("Escalated to #team-ops by <@U0ALICE>")
    escalated = await scene.card("send_email", "She is on leave", channel=OPS)
    await scene.dana.press(escalated, "approve")

    assert len((await waiting).execute) == 1


async def test_promise_9_pressed_twice_it_escalates_once(scene: Scene) -> None:
    """Given two people who escalate at once; then there is one message in #team-ops, and the second one is
    told that it is there already."""
    await scene.bot()
    gate = await scene.gate(LATER)
    scene.ask(gate, email())
    card = await scene.card("send_email")

    await asyncio.gather(scene.alice.press(card, "escalate"), scene.bob.press(card, "escalate"))
    await asyncio.gather(scene.alice.submit(), scene.bob.submit())

    await scene.card("Escalated", channel=OPS)
    assert len(await scene.cards(OPS)) == 1
    texts = [await scene.alice.modal(), await scene.bob.modal()]
    assert sorted(texts) == [
        "",
        "Not changed This was already escalated: #team-ops can decide too.",
    ]


async def test_promise_9_several_bots_escalate_once(scene: Scene) -> None:
    """Given three bots that see the same step due; then it is taken once, and both channels have one message
    each."""
    bots = [await scene.bot() for _ in range(3)]
    gate = await scene.gate(SOON)
    scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.card("Escalated", channel=OPS)
    await asyncio.gather(*(bot.workers.timers.tick() for bot in bots if bot.workers))
    await scene.card("Escalated to #team-ops")

    review = await gate.reviews.load(review_of(card))
    assert len(review.review.actions[0].escalations) == 1
    assert len(await scene.cards(OPS)) == len(await scene.cards()) == 1


async def test_what_is_overdue_expires_and_is_not_escalated_first(scene: Scene) -> None:
    """Fault K3: given a review whose step and deadline both pass while no bot runs; when one starts, then the
    deadline settles it and #team-ops never gets it."""
    gate = await scene.gate(SOON + "\nexpire: {after: 2s}")
    waiting = scene.ask(gate, email())

    async def overdue() -> bool:
        ids = await gate.reviews.store.due_reviews()
        snapshots = [await gate.reviews.load(id) for id in ids]
        return any(s.now > s.review.created_at + 2 for s in snapshots)

    await wait_until("both are overdue", overdue)
    await scene.bot(QUICK)

    assert (await waiting).execute == ()
    await scene.card("nobody decided in time")
    assert await scene.cards(OPS) == []
