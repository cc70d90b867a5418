"""A card as a Slack message. Buttons carry ids, never data. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ....card import (
    LIST_HINT,
    ActionLine,
    Card,
    CardText,
    Line,
    PlaceNames,
    card_buttons,
    card_text,
    is_single,
    list_line,
    more_doubts_line,
    more_line,
)
from ....text import fit
from .action_blocks import action_blocks, doubt_blocks
from .block_kit import (
    COST_OF_BLOCK,
    MAX_TEXT_SIZE,
    Block,
    Element,
    divider,
    header,
    rich_text,
    text_size,
)
from .buttons import button_blocks
from .decided_blocks import decision_block, thread_message
from .markup import context_facts, context_lines, make_inert, section, sections
from .mentions import MessageLink, Names, place_names

__all__ = ["action_blocks", "incomplete_actions", "message", "message_blocks", "thread_message"]

MAX_BLOCKS = 50
#: Reserved for the lines of decided actions while others still wait.
DECIDED_SIZE = 2500
#: Reserved for "and 5 more", and for links.
SPARE_SIZE = 300
LINKS_SIZE = 600
#: In one line of the list: the shortest and longest fact, and what its warning and votes take.
MIN_FACT, MAX_FACT = 20, 80
COST_OF_LINE = 50


def message(card: Card, names: Names, link: MessageLink | None = None) -> dict[str, Any]:
    """`text` (for notifications and screen readers) and `blocks`."""
    return {"text": make_inert(card.summary), "blocks": message_blocks(card, names, link)}


def message_blocks(card: Card, names: Names, link: MessageLink | None = None) -> list[Block]:
    """At most MAX_BLOCKS blocks with MAX_TEXT_SIZE characters."""
    return _layout(card, names, link).blocks


def incomplete_actions(card: Card, names: Names) -> frozenset[str]:
    """The keys of the pending actions that are not shown completely: cut, or only a line in the list."""
    if _layout(card, names, None).is_list:
        return frozenset(action.key for action in card.waiting)
    return frozenset(action.key for action in card.open_actions if action.excerpt.missing)


class _Layout(NamedTuple):
    """`is_list`: each action is only one line."""

    blocks: list[Block]
    is_list: bool


def _layout(card: Card, names: Names, link: MessageLink | None) -> _Layout:
    known = place_names(names)
    text = card_text(card, known)
    top = _header_blocks(card, text)
    body = _open_blocks(card, known)
    foot = _footer_blocks(card, text, known, is_list=False)
    # The layout must not depend on links, because `incomplete_actions` draws without them.
    reserved = SPARE_SIZE + LINKS_SIZE + (DECIDED_SIZE if card.decision_lines and body else 0)
    too_large = _is_too_large([*top, *body, *foot], reserved, 4)
    if link is not None and (card.first_message or card.origin.conversation):
        top = _header_blocks(card, card_text(card, place_names(names, link)))
    if card.waiting and (too_large or not card.open_actions):
        foot = _footer_blocks(card, text, known, is_list=True)
        room = MAX_TEXT_SIZE - text_size([*top, *foot]) - reserved
        listed = _list_blocks(card, room)
        return _Layout(_join_blocks(text, top, listed, foot), True)
    if too_large and card.doubts:
        body = _fitting_doubts(card, top, foot, reserved)
    return _Layout(_join_blocks(text, top, body, foot), False)


def _is_too_large(blocks: list[Block], reserved: int, more_blocks: int) -> bool:
    return text_size(blocks) + reserved > MAX_TEXT_SIZE or len(blocks) + more_blocks > MAX_BLOCKS


def _header_blocks(card: Card, text: CardText) -> list[Block]:
    called = context_facts("called", text.calls) if text.calls else []
    cancels = context_lines("cancels", text.cancel_votes) if text.cancel_votes else []
    before = context_lines("before", [text.elsewhere]) if text.elsewhere else []
    return [
        header("title", card.title),
        *called,
        *origin_blocks(text),
        *notes_blocks("unshown", text.problems),
        *notes_blocks("note", text.notes),
        *cancels,
        *before,
    ]


def origin_blocks(text: CardText) -> list[Block]:
    """For whom and until when, and the warnings about the names in it."""
    warnings = [rich_text("odd", *sections(text.warnings))] if text.warnings else []
    return [*context_facts("origin", text.origin), *warnings]


def notes_blocks(key: str, notes: Sequence[Sequence[Line]]) -> list[Block]:
    return [
        block for at, lines in enumerate(notes) for block in context_lines(f"{key}:{at}", lines)
    ]


def _join_blocks(
    text: CardText, top: list[Block], body: list[Block], foot: list[Block]
) -> list[Block]:
    content = [*top, *body]
    if text.decisions:
        room = MAX_TEXT_SIZE - text_size([*content, *foot]) - SPARE_SIZE
        content += [divider("line:closed"), decision_block(text.decisions, room)]
    return [*content, *([divider("line:foot")] if body else []), *foot]


def _open_blocks(card: Card, names: PlaceNames) -> list[Block]:
    """All pending actions and doubts, in full."""
    is_only = is_single(card)
    above = card.title if is_only else ""
    body: list[Block] = []
    for doubt in card.doubts:
        body += [divider(f"line:{doubt.key}"), *doubt_blocks(card.review_id, doubt)]
    for action in card.open_actions:
        action_part = action_blocks(
            card.review_id, action, names, numbered=not is_only, above=above
        )
        body += [divider(f"line:{action.key}"), *action_part]
    return body


def _fitting_doubts(card: Card, top: list[Block], foot: list[Block], reserved: int) -> list[Block]:
    """The first doubts that fit. The others appear when these are answered."""
    body: list[Block] = []
    for at, doubt in enumerate(card.doubts):
        doubt_part = [divider(f"line:{doubt.key}"), *doubt_blocks(card.review_id, doubt)]
        if body and _is_too_large([*top, *body, *doubt_part, *foot], reserved, 3):
            return [*body, *context_lines("more", [more_doubts_line(len(card.doubts) - at)])]
        body += doubt_part
    return body


def _list_blocks(card: Card, room: int) -> list[Block]:
    """One line for each action: number, tool, main fact."""
    lines: list[Element] = []
    room -= 3 * SPARE_SIZE
    share = max(0, room // len(card.waiting))
    for at, action in enumerate(card.waiting):
        one = section(list_line(action, _fitting_fact(action, share)))
        room -= text_size([one]) - COST_OF_BLOCK
        if room < 0:
            lines.append(section(more_line(len(card.waiting) - at)))
            break
        lines.append(one)
    hint = context_lines("how", [LIST_HINT])
    return [divider("line:list"), rich_text("list", *lines), *hint]


def _fitting_fact(action: ActionLine, share: int) -> str:
    """The fact within its share of the space."""
    room = min(MAX_FACT, share - len(f"{action.number}  {action.name}") - COST_OF_LINE)
    return fit(action.fact, max(MIN_FACT, room))


def _footer_blocks(card: Card, text: CardText, names: PlaceNames, *, is_list: bool) -> list[Block]:
    next_place = names.name_of(card.next_step.to) if card.next_step else ""
    buttons = card_buttons(card, is_list=is_list, next_place=next_place)
    lines = [text.deciders, text.ids] if text.deciders else [text.ids]
    return [*button_blocks("all", buttons), *context_lines("foot", lines)]
