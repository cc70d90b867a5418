"""Edits in Teams: errors, several pages, repeated answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.refusals import UNREADABLE_BUTTON
from hitl_core import Outcome, ToolCall
from teams_sandbox.workspace.acme import (
    ALICE,
    BOB,
)
from tests.support.bots import Scene
from tests.support.teams.scene import ask, card, outcome
from tests.support.teams.users import TeamsUsers, actions, text_of


async def test_edit_with_an_error_and_its_correction(scene: Scene, users: TeamsUsers) -> None:
    """Given the edit form; when Alice enters a wrong number, then the error is beside the field and what she
    entered stays; when she corrects it, then her edit runs."""
    waiting = await ask(scene)
    message = await card(users, "send_email")
    form = await users.press(ALICE, "Edit", message)
    assert "copies" in form
    wrong = await users.submit(ALICE, message, to="jo@example.com", copies="99")
    assert "✖" in wrong
    assert "99" in wrong
    assert "jo@example.com" in wrong
    seen = await users.submit(ALICE, message, copies="3")
    assert "edited and approved by “Alice Ng”" in seen
    [call] = (await outcome(waiting)).execute
    assert call.args == {"to": "jo@example.com", "copies": 3}


async def ask_for_fields(scene: Scene) -> asyncio.Task[Outcome]:
    """A call with more fields than one card has, all with the value "old"."""
    names = [f"field_{at:02}" for at in range(25)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    rule = {"allowed_decisions": ["approve", "edit"], "args_schema": schema}
    call = ToolCall("c1", "set_fields", dict.fromkeys(names, "old"))
    return await ask(scene, call, interrupt_on={"set_fields": rule})


async def changed_fields(waiting: asyncio.Task[Outcome]) -> dict[str, Any]:
    """What runs, without the fields that are as they were."""
    [run] = (await outcome(waiting)).execute
    return {name: value for name, value in run.args.items() if value != "old"}


async def test_edit_over_several_pages(scene: Scene, users: TeamsUsers) -> None:
    """Given more fields than one card has; when Alice goes on, back, and on again, then nothing that she
    entered is lost."""
    waiting = await ask_for_fields(scene)
    message = await card(users, "set_fields")
    page = await users.press(ALICE, "Edit", message)
    assert "Page 1 of 4" in page
    assert "Page 2 of 4" in await users.submit(ALICE, message, field_00="first")
    assert "field_00 first" in (await users.turn_back(ALICE, message)).replace(" (optional)", "")
    await users.submit(ALICE, message)
    assert "Page 3 of 4" in await users.submit(ALICE, message, field_12="second")
    assert "Page 4 of 4" in await users.submit(ALICE, message)
    await users.submit(ALICE, message, field_24="third")
    assert await changed_fields(waiting) == {
        "field_00": "first",
        "field_12": "second",
        "field_24": "third",
    }


async def test_a_page_that_teams_repeats_late_loses_no_edit(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a form of three pages; when Teams sends the first page again while Alice is at the last one; then
    what she entered in between runs."""
    waiting = await ask_for_fields(scene)
    message = await card(users, "set_fields")
    await users.press(ALICE, "Edit", message)
    first_page = message.card_for(ALICE)
    late = users.press_of(ALICE, message, actions(first_page)["Next"], {})
    await users.submit(ALICE, message)
    await users.submit(ALICE, message, field_08="second")
    assert "You continued this form on another page" in str(await users.send(late))
    await users.submit(ALICE, message)
    await users.submit(ALICE, message, field_24="last")
    assert await changed_fields(waiting) == {"field_08": "second", "field_24": "last"}


async def test_another_answer_from_the_same_form_is_no_repeat(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a form of two pages for an answer that two people must agree on; when Alice sends it, and then on
    another device, where its last page is still open, goes back, changes the first page and sends it; then
    her later answer is her vote. The last page is the same both times, so it was taken for a repeat."""
    names = [f"field_{at:02}" for at in range(12)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    rule = {
        "allowed_decisions": ["respond"],
        "answer_schema": schema,
        "reviewers": {"channel_members": True, "quorum": 2, "exclude_requester": False},
    }
    waiting = await ask(scene, ToolCall("c1", "ask", {"q": "?"}), interrupt_on={"ask": rule})
    message = await card(users, "ask")
    await users.press(ALICE, next(iter(actions(message.card))), message)
    await users.submit(ALICE, message, field_00="first")
    other_device = message.card_for(ALICE)
    assert other_device is not None
    await users.submit(ALICE, message)
    assert "1 of 2" in text_of(message.card_for(ALICE))
    await card(users, "1 of 2")  # the update has come, so no other one closes the form
    message.cards[ALICE] = other_device
    await users.turn_back(ALICE, message)
    await users.submit(ALICE, message, field_00="second")
    await users.submit(ALICE, message)
    await users.press(BOB, next(iter(actions(message.card))), message)
    await users.submit(BOB, message)
    await users.submit(BOB, message)
    [answer] = (await outcome(waiting)).answers
    assert "second" in answer.content


@pytest.mark.parametrize("verb", [None, "", "Send", "close"])
async def test_a_form_is_sent_only_with_the_button_that_sends_it(
    scene: Scene, users: TeamsUsers, verb: str | None
) -> None:
    """Given a client that does not say which of the form's buttons was pressed; then nothing is decided: it
    may have been "Back"."""
    waiting = await ask(scene)
    message = await card(users, "send_email")
    await users.press(ALICE, "Edit", message)
    button = next(one for one in actions(message.card_for(ALICE)).values() if "verb" in one)
    press = users.press_of(ALICE, message, button, {})
    press["value"]["action"] |= {"verb": verb}
    if verb is None:
        del press["value"]["action"]["verb"]
    assert users.show(ALICE, message, await users.send(press)) == UNREADABLE_BUTTON
    await users.submit(ALICE, message, copies="3")
    assert (await outcome(waiting)).execute
