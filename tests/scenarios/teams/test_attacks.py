"""Attacks, large reviews and small accidents in Teams, and that they do no harm."""

from __future__ import annotations

from typing import Any

from bot.channels.teams.ids import mark_of
from bot.refusals import UNREADABLE_BUTTON
from hitl_core import ToolCall
from teams_sandbox.workspace.acme import ALICE, APPROVALS, BOB, OPS
from teams_sandbox.workspace.objects import Message
from tests.support.bots import Scene
from tests.support.teams.scene import ask, card, outcome
from tests.support.teams.users import TeamsUsers, actions, text_of

#: 900 characters of two bytes each.
LONG = "\u0412\u043e\u0437\u0432\u0440 " * 150


def large(**more: Any) -> dict[str, Any]:
    return {f"field_{number}": LONG for number in range(16)} | more


async def test_each_page_of_a_large_review_can_be_opened_and_decided(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given four large actions; then each can be read to its end and approved one by one."""
    waiting = await ask(
        scene, *[ToolCall(f"c{n}", "create_ticket", large(last=f"end {n}")) for n in range(4)]
    )
    message = await card(users, "create_ticket")
    await users.press(ALICE, "Review one by one", message)
    for _ in range(4):
        await users.press(ALICE, "Read all, then approve", message)
        while "Next ▶" in actions(message.card_for(ALICE)):
            await users.press(ALICE, "Next ▶", message)
        await users.press(ALICE, "Approve", message)
    assert len((await outcome(waiting)).execute) == 4


async def test_a_page_that_is_cut_does_not_count_as_read(scene: Scene, users: TeamsUsers) -> None:
    rule = {"create_ticket": {"allowed_decisions": ["approve", "reject"], "must_read": True}}
    calls = [ToolCall(f"c{n}", "create_ticket", large()) for n in range(4)]
    await ask(scene, *calls, interrupt_on=rule)
    message = await card(users, "create_ticket")
    await users.press(ALICE, "Review one by one", message)
    assert "Approve" not in actions(message.card_for(ALICE))
    gate = await scene.gate()
    snapshot = await gate.reviews.load(mark_of(message.card or {}).split(":")[1])
    assert not [mark for mark in snapshot.marks if mark.startswith("read:")], text_of(message.card)


async def test_a_button_that_was_moved_does_nothing(scene: Scene, users: TeamsUsers) -> None:
    """Given one review in two channels; when a client sends a button of one with the message of the other, or
    with one of Alice's own chat, then it is refused, and nothing is decided, opened or shown.
    """
    waiting = await ask(scene, notify=[f"teams:{APPROVALS}", f"teams:{OPS}"])
    here, there = await card(users, "send_email"), await card(users, "send_email", conversation=OPS)
    await users.write(ALICE, "approvals")
    home = await users.message("1 review waits for you", conversation=users.chat(ALICE))
    for taken, put in ((here, there), (there, here), (here, home), (home, here)):
        for label in ("Approve", "Edit", "Reject"):
            press = users.press_of(ALICE, put, actions(taken.card or {})[label], {})
            assert users.show(ALICE, put, await users.send(press)) == UNREADABLE_BUTTON
    assert not waiting.done()
    await users.press(ALICE, "Approve", there)
    assert (await outcome(waiting)).execute


async def test_a_form_that_was_moved_does_nothing(scene: Scene, users: TeamsUsers) -> None:
    waiting = await ask(scene, notify=[f"teams:{APPROVALS}", f"teams:{OPS}"])
    here, there = await card(users, "send_email"), await card(users, "send_email", conversation=OPS)
    await users.press(ALICE, "Reject", here)
    reject = actions(here.card_for(ALICE))["Reject"]
    press = users.press_of(ALICE, there, reject, {})
    assert users.show(ALICE, there, await users.send(press)) == UNREADABLE_BUTTON
    assert not waiting.done()
    await users.press(ALICE, "Reject", here)
    assert not (await outcome(waiting)).execute


async def test_a_shown_card_never_gets_escalate(scene: Scene, users: TeamsUsers) -> None:
    """Given a card that Alice asked for; when she opens a part of it and closes that, then she has her list,
    and never the card with Escalate, which is only on the card in its channel.
    """
    calls = [ToolCall(f"c{n}", "create_ticket", large()) for n in range(4)]
    await ask(scene, *calls, escalate=[{"after": "1h", "to": f"teams:{OPS}"}])
    message = await card(users, "create_ticket")
    assert has_escalate(message, BOB)
    id = text_of(message.card).rsplit("\n", 1)[-1].split()[0]
    await users.write(ALICE, f"approvals show {id}")
    shown = await users.message("create_ticket", conversation=users.chat(ALICE))
    for inner in ([], ["Next ▶"], ["Read all, then approve", "Close"], ["Reject", "Cancel"]):
        shown.cards.clear()
        for label in ("Review one by one", *inner, "Close"):
            await users.press(ALICE, label, shown)
            assert not has_escalate(shown, ALICE)
        assert "1 review waits for you" in text_of(shown.card_for(ALICE))


def has_escalate(message: Message, person: str) -> bool:
    return any(label.startswith("Escalate") for label in actions(message.card_for(person)))
