"""Buttons as Block Kit elements. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ....card import Button
from .block_kit import Block, Element, plain_text, shorten

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


def button(
    action_id: str, text: str, value: str, label: str, *, style: str | None = None
) -> Element:
    """`label` is the text for screen readers."""
    element: Element = {
        "type": "button",
        "action_id": action_id,
        "text": plain_text(text, 75),
        "value": value,
        "accessibility_label": shorten(label, 75),
    }
    return {**element, "style": style} if style else element


def with_confirm(element: Element, title: str, text: str, confirm_label: str) -> Element:
    """The button with a confirmation dialog."""
    dialog = {"title": plain_text(title, 100), "text": plain_text(text, 300), "style": "primary"}
    return {
        **element,
        "confirm": {
            **dialog,
            "confirm": plain_text(confirm_label, 30),
            "deny": plain_text("Cancel", 30),
        },
    }


def overflow(action_id: str, options: list[tuple[str, str]]) -> Element:
    """`options` are pairs of label and value."""
    menu_options = [{"text": plain_text(text, 75), "value": value} for text, value in options]
    return {"type": "overflow", "action_id": action_id, "options": menu_options}


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
