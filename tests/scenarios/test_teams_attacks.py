"""What an attacker, a large review or a small accident in Teams can't do."""

from __future__ import annotations

from typing import Any

from bot.channels.teams.ids import mark_of
from hitl_core import ToolCall
from teams_sandbox.workspace.acme import ALICE
from tests.support.bots import Scene
from tests.support.teams_hands import TeamsHands, actions, text_of
from tests.support.teams_scene import ask, card, outcome

#: 900 characters of two bytes each.
LONG = "\u0412\u043e\u0437\u0432\u0440 " * 150


def large(**more: Any) -> dict[str, Any]:
    return {f"field_{number}": LONG for number in range(16)} | more


async def test_at1_each_page_of_a_large_review_can_be_opened_and_decided(
    scene: Scene, hands: TeamsHands
) -> None:
    """Given four large actions; then each can be read to its end and approved one by one."""
    waiting = await ask(
        scene, *[ToolCall(f"c{n}", "create_ticket", large(last=f"end {n}")) for n in range(4)]
    )
    message = await card(hands, "create_ticket")
    await hands.press(ALICE, "Review one by one", message)
    for _ in range(4):
        await hands.press(ALICE, "Read all, then approve", message)
        while "Next ▶" in actions(message.card_for(ALICE)):
            await hands.press(ALICE, "Next ▶", message)
        await hands.press(ALICE, "Approve", message)
    assert len((await outcome(waiting)).execute) == 4


async def test_at1_a_page_that_is_cut_does_not_count_as_read(
    scene: Scene, hands: TeamsHands
) -> None:
    rule = {"create_ticket": {"allowed_decisions": ["approve", "reject"], "must_read": True}}
    calls = [ToolCall(f"c{n}", "create_ticket", large()) for n in range(4)]
    await ask(scene, *calls, interrupt_on=rule)
    message = await card(hands, "create_ticket")
    await hands.press(ALICE, "Review one by one", message)
    assert "Approve" not in actions(message.card_for(ALICE))
    gate = await scene.gate()
    snapshot = await gate.reviews.load(mark_of(message.card or {}).split(":")[1])
    assert not [mark for mark in snapshot.marks if mark.startswith("read:")], text_of(message.card)
