"""A bot that runs as in production is killed (kill -9) at one exact point; then another one
finishes the job.
"""

from __future__ import annotations

import pytest

from hitl_core.model import DEFAULT_PLACE
from tests.support.bots import POLICY, Scene, email
from tests.support.slack import OPS, review_of
from tests.support.waiting import wait_until

SOON = POLICY + 'escalate: [{after: 1s, to: "slack:#team-ops"}]'


@pytest.mark.parametrize(
    "point", ["outbox.before_card", "outbox.after_card", "outbox.after_card_record"]
)
async def test_a_bot_killed_while_it_posts(scene: Scene, point: str) -> None:
    """Faults W1 to W3: given a bot that is killed before it posts (W1), after the post (W2), or after
    noting it (W3); when another bot runs, then there is one message, its button works, and it shows the
    decision."""
    bot = await scene.bot_process(f"{point}=kill")
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    assert await bot.wait_end() == -9
    posted = [card["ts"] for card in await scene.cards()]
    assert len(posted) == (0 if point == "outbox.before_card" else 1)

    await scene.bot()
    card = await scene.card("send_email")
    await scene.alice.press_until(waiting.done, card, "approve")

    assert len((await waiting).execute) == 1
    await scene.card("approved by U0ALICE")
    await scene.all_shown()
    left = [card["ts"] for card in await scene.cards()]
    assert len(left) == 1
    assert left == (posted or left)  # nobody is notified twice


async def test_a_second_event_finds_no_note_of_the_first_post(scene: Scene) -> None:
    """Fault W2: given a bot that is killed after its post, and an escalation that another bot reads before it
    takes over the dead one's entry; then in the end each channel has one message, and both show the decision.
    """
    bot = await scene.bot_process("outbox.after_card=kill")
    gate = await scene.gate(SOON)
    waiting = scene.ask(gate, email())
    assert await bot.wait_end() == -9

    await scene.bot()
    escalated = await scene.card("Escalated", channel=OPS)
    await scene.dana.press_until(waiting.done, escalated, "approve")

    await scene.all_shown()
    await scene.card("approved by U0DANA")
    assert len(await scene.cards()) == len(await scene.cards(OPS)) == 1


async def test_a_loser_killed_before_it_deletes_its_own(scene: Scene) -> None:
    """Fault W2: given a message that was posted beside the one that is noted (two bots at once, one killed
    before it deleted its own); when the card is taken over, then the message is deleted."""
    bot = await scene.bot_process("outbox.after_card=kill")
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    assert await bot.wait_end() == -9
    [orphan] = await scene.cards()
    other = await scene.post_again(orphan)
    await gate.reviews.store.record_post(review_of(orphan), DEFAULT_PLACE, other)
    await scene.bot()

    async def left() -> list[str]:
        return [card["ts"] for card in await scene.cards()]

    async def only_other() -> bool:
        return await left() == [other.ts]

    await wait_until("the orphan is deleted", only_other)
    await scene.all_shown()
    card = await scene.card("send_email")
    await scene.alice.press_until(waiting.done, card, "approve")
    await scene.card("approved by U0ALICE")


async def test_a_bot_killed_before_it_escalates(scene: Scene) -> None:
    """Fault K1: given a bot that is killed after it found what is due, before it did it; when another runs,
    then it is escalated, once."""
    bot = await scene.bot_process("timers.after_peek=kill")
    gate = await scene.gate(SOON)
    scene.ask(gate, email())
    await scene.card("send_email")
    assert await bot.wait_end() == -9

    await scene.bot()

    await scene.card("Escalated", channel=OPS)
    await scene.card("Escalated to #team-ops")
    await scene.all_shown()
    assert len(await scene.cards(OPS)) == 1


async def test_two_bots_fire_the_same_step(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault K2: given two bots that both saw the same step due before either did it; then it is done once."""
    gate = await scene.gate(SOON)
    go = scene.folder / "go"
    monkeypatch.setenv("HITL_FAILPOINTS", f"timers.after_peek=pause:{go}")
    await scene.bot()
    await scene.bot()
    scene.ask(gate, email())
    card = await scene.card("send_email")

    async def due() -> bool:
        return bool(await gate.reviews.store.due_reviews())

    await wait_until("it is due", due)
    go.touch()
    await scene.card("Escalated", channel=OPS)
    await scene.all_shown()

    stored = await gate.reviews.load(review_of(card))
    assert len(stored.review.actions[0].escalations) == 1
    assert len(await scene.cards(OPS)) == 1


async def test_two_bots_share_the_work_and_one_dies(scene: Scene) -> None:
    """Given reviews that come while a bot is killed at its first post; then another posts all of them, each
    once, in time."""
    bot = await scene.bot_process("outbox.after_card=kill")
    gate = await scene.gate()
    for number in range(5):
        scene.ask(gate, email(), thread_id=f"t-{number}")
    assert await bot.wait_end() == -9
    await scene.bot()

    await wait_until("all are posted", lambda: _count(scene, 5))
    await scene.all_shown()
    assert len(await scene.cards()) == 5


async def _count(scene: Scene, count: int) -> bool:
    return len(await scene.cards()) >= count
