"""Buttons that are not ours, or whose value doesn't fit their listener."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from bot.refusals import UNREADABLE_BUTTON
from tests.support.bots import Scene
from tests.support.slack import Message


def _button(card: Message, action_id: str) -> dict[str, Any]:
    blocks = (block["elements"] for block in card["blocks"] if block["type"] == "actions")
    return next(one for elements in blocks for one in elements if one["action_id"] == action_id)


async def press(scene: Scene, card: Message, action_id: str, value: str) -> None:
    """Alice presses Approve, which has this id and value."""
    old = scene.sandbox.workspace.channels[card["channel"]].messages[card["ts"]]
    kept, blocks = old.blocks, deepcopy(old.blocks)
    _button({"blocks": blocks}, "approve").update(action_id=action_id, value=value)
    old.blocks = blocks
    try:
        await scene.alice.press({**card, "blocks": blocks}, action_id)
    finally:
        old.blocks = kept


@pytest.mark.parametrize(
    ("action_id", "value"),
    [
        ("approve", "garbage"),
        ("approve", '{"review": "0-93b4c7d2", "action": "1"}'),  # another format
        ("an_old_button", "VALUE"),
        ("home_page:next", "back"),
        ("reject", "VALUE"),  # would open a form where the value approves
        ("approve", "REJECT"),
        ("foo:next", "next"),
    ],
)
async def test_a_button_that_is_none_of_ours_is_refused_with_a_sentence(
    scene: Scene, action_id: str, value: str
) -> None:
    """Given a button with a value or an id that is none of ours, or with those of two buttons; when a person
    presses it, then Slack gets its answer, the person a sentence, and the review waits."""
    await scene.bot()
    waiting = scene.ask(await scene.gate())
    card = await scene.card("send_email")
    values = {name.upper(): _button(card, name)["value"] for name in ("approve", "reject")}
    value = values["APPROVE"] if value == "VALUE" else values.get(value, value)

    await press(scene, card, action_id, value)  # raises if Slack shows an error of its own

    assert await scene.alice.notices() == [UNREADABLE_BUTTON]
    assert not await scene.alice.modal()
    assert not waiting.done()
    await scene.alice.press(card, "approve")
    assert (await waiting).execute
