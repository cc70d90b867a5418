"""Buttons → Block Kit elements. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ....card import Button
from ..ids import button_ids
from .block_kit import Block, Element, actions, button, overflow, with_confirm

_STYLES = {"positive": "primary", "destructive": "danger"}


def button_blocks(block_id: str, buttons: Sequence[Button], pages_of: str = "") -> list[Block]:
    """One block with these buttons, the rare ones in a menu; none without buttons. `pages_of` is the prefix
    of the ids of the buttons to other pages.
    """
    elements: list[Element] = []
    options: list[tuple[str, str]] = []
    for one in buttons:
        action_id, value = button_ids(one, pages_of)
        if one.is_rare:
            options.append((one.label, f"{action_id}.{value}"))
        else:
            elements.append(_element(one, action_id, value))
    if options:
        elements.append(overflow("more", options))
    return [actions(block_id, elements)] if elements else []


def _element(one: Button, action_id: str, value: str) -> Element:
    style = _STYLES[one.style] if one.style else None
    element = button(action_id, one.label, value, one.spoken, style=style)
    if (ask := one.confirmation) is None:
        return element
    return with_confirm(element, ask.title, ask.text, ask.label)
