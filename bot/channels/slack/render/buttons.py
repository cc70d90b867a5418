"""Buttons → Block Kit elements. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ....card import Button
from ..ids import action_id, button_value_of
from .block_kit import Block, Element, actions, button, overflow, with_confirm

_STYLES = {"positive": "primary", "destructive": "danger"}


def button_blocks(block_id: str, buttons: Sequence[Button], pages_of: str = "") -> list[Block]:
    """One block with these buttons, the rare ones in a menu; none without buttons. `pages_of` is the prefix
    of the ids of the buttons to other pages.
    """
    elements = [_element(one, pages_of) for one in buttons if not one.is_rare]
    options = [(one.label, f"{one.verb}.{button_value_of(one)}") for one in buttons if one.is_rare]
    if options:
        elements.append(overflow("more", options))
    return [actions(block_id, elements)] if elements else []


def _element(one: Button, pages_of: str) -> Element:
    style = _STYLES[one.style] if one.style else None
    element = button(
        action_id(one, pages_of), one.label, button_value_of(one), one.spoken, style=style
    )
    if (ask := one.confirmation) is None:
        return element
    return with_confirm(element, ask.title, ask.text, ask.label)
