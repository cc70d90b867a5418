"""One pending action with its arguments and buttons, or a call in doubt. Pure."""

from __future__ import annotations

from ....card import (
    ActionText,
    Argument,
    Doubt,
    Line,
    OpenAction,
    PlaceNames,
    Strong,
    Verbatim,
    action_text,
    doubt_text,
)
from .block_kit import MAX_TEXT_SIZE, Block, Element, pre, rich_text
from .buttons import button_blocks
from .decided_blocks import decision_block
from .markup import context_lines, section, sections


def action_blocks(
    review_id: str,
    action: OpenAction,
    names: PlaceNames,
    *,
    numbered: bool = True,
    above: str = "",
) -> list[Block]:
    """Block ids end in the action's key. A decided action shows its decision and no buttons. Text that is
    already in the title (`above`) is omitted.
    """
    text = action_text(review_id, action, names, numbered=numbered, above=above)
    blocks = _text_blocks(action.key, text)
    if text.decision:
        closed = decision_block([text.decision], MAX_TEXT_SIZE)
        return [*blocks, {**closed, "block_id": f"is:{action.key}"}]
    return [*blocks, *button_blocks(f"do:{action.key}:{action.revision}", text.buttons)]


def doubt_blocks(review_id: str, doubt: Doubt) -> list[Block]:
    text = doubt_text(review_id, doubt)
    return [*_text_blocks(doubt.key, text), *button_blocks(f"doubt:{doubt.key}", text.buttons)]


def _text_blocks(key: str, text: ActionText) -> list[Block]:
    reason = [section(text.reason)] if text.reason else []
    call = [*_argument_elements(text.head, text.arguments), *reason, *map(section, text.warnings)]
    blocks = [rich_text(f"call:{key}", *call)]
    if text.edits:
        blocks.append(rich_text(f"edits:{key}", *sections(text.edits)))
    if text.notes:
        blocks += context_lines(f"said:{key}", text.notes)
    if text.votes:
        blocks += context_lines(f"votes:{key}", text.votes)
    return blocks


def _argument_elements(head: Line, arguments: tuple[Argument, ...]) -> list[Element]:
    """Label and value on one line; long text and code in a box."""
    elements: list[Element] = []
    spans = [*head]
    for argument in arguments:
        spans.append(Strong(f"\n{argument.label}" if spans else argument.label))
        if argument.block:
            elements += [section(spans), pre(argument.value)]
            spans = []
        else:
            spans.append(Verbatim(f"  {argument.value}"))
    return [*elements, section(spans)] if spans else elements
