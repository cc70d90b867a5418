"""Buttons as Block Kit elements. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ....card import Button
from .block_kit import Block, Element, button, overflow, with_confirm

_STYLES = {"positive": "primary", "destructive": "danger"}


def button_blocks(block_id: str, buttons: Sequence[Button], pages_of: str = "") -> list[Block]:
    """One block with these buttons, the rare ones in a menu; none without buttons. `pages_of` is the prefix
    of the ids of the buttons to other pages.
    """
    elements: list[Element] = []
    options: list[tuple[str, str]] = []
    for one in buttons:
        if one.is_rare:
            options.append((one.label, one.value))
        else:
            elements.append(_element(one, _action_id(one, pages_of)))
    if options:
        elements.append(overflow("more", options))
    return [actions(block_id, elements)] if elements else []


def _element(one: Button, action_id: str) -> Element:
    style = _STYLES[one.style] if one.style else None
    element = button(action_id, one.label, one.value, one.spoken, style=style)
    if (ask := one.confirmation) is None:
        return element
    return with_confirm(element, ask.title, ask.text, ask.label)


def actions(block_id: str, elements: list[Element]) -> Block:
    return {"type": "actions", "block_id": block_id, "elements": elements}


def _action_id(button: Button, pages_of: str) -> str:
    """By this id Slack finds our listener; no two in one block are equal."""
    match button.verb:
        case "answer":
            return f"answer:{button.number}"
        case "ran" | "rerun" | "skip":
            return f"doubt_{button.verb}"
        case "back":
            return f"{pages_of}:back"
        case "next":
            return f"{pages_of}:on"
        case verb:
            return verb
