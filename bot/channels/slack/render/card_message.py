"""A card as a Slack message. Buttons carry ids, never data. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....card import (
    ActionText,
    Argument,
    Button,
    Card,
    CardText,
    Doubt,
    Line,
    OpenAction,
    PlaceNames,
    Text,
    action_text,
    argument_heads,
    card_buttons,
    card_text,
    doubt_text,
    is_single,
    more_doubts_line,
    no_url,
    shows_list,
)
from .block_kit import (
    MAX_TEXT_SIZE,
    SPARE_SIZE,
    Block,
    Element,
    button_blocks,
    divider,
    header,
    rich_text,
    text_size,
)
from .line_blocks import decision_block, list_blocks
from .markup import box, context_facts, context_lines, notification, section, sections
from .mentions import MessageLink, Names, place_names

MAX_BLOCKS = 50
#: Reserved for the lines of decided actions while others still wait.
DECIDED_SIZE = 2500
#: Reserved for links, and for the buttons above a list.
LINKS_SIZE = 600
BUTTONS_SIZE = 700
#: Reserved for a list below calls in doubt, and its blocks.
LIST_SIZE, LIST_BLOCKS = 3_000, 12


def message(card: Card, names: Names, link: MessageLink = no_url) -> dict[str, Any]:
    """`text` (for notifications and screen readers) and `blocks`."""
    return {"text": notification(card.summary), "blocks": message_blocks(card, names, link)}


def message_blocks(card: Card, names: Names, link: MessageLink = no_url) -> list[Block]:
    """At most MAX_BLOCKS blocks with MAX_TEXT_SIZE characters."""
    known = place_names(names)
    text = card_text(card, known)
    top = _header_blocks(card, text)
    buttons = card_buttons(card, layout="full", next_place=_next_place(card, known))
    # The rare buttons of a card with one action are in the menu of this action.
    is_only = is_single(card)
    shared = buttons if is_only and all(one.is_rare for one in buttons) else ()
    body = _open_blocks(card, known, shared, is_only=is_only)
    foot = [*([] if shared else button_blocks("all", buttons)), *_foot_lines(text)]
    reserved = SPARE_SIZE + LINKS_SIZE + (DECIDED_SIZE if card.decision_lines and body else 0)
    too_large = _is_too_large([*top, *body, *foot], reserved, 4)
    if link is not None and (card.first_message or card.origin.conversation):
        top = _header_blocks(card, card_text(card, place_names(names, link)))
    if shows_list(card, fits=not too_large):
        next_place, foot = _next_place(card, known), _foot_lines(text)
        doubts = _fitting_doubts(card, [*top, *foot], reserved + LIST_SIZE, LIST_BLOCKS)
        room = MAX_TEXT_SIZE - text_size([*top, *doubts, *foot]) - reserved - BUTTONS_SIZE
        layout, listed = list_blocks(card, room)
        buttons = button_blocks("all", card_buttons(card, layout=layout, next_place=next_place))
        start = [divider("line:all")] if doubts else []
        return _join_blocks(text, top, [*doubts, *start, *buttons, *listed], foot)
    if too_large and card.doubts:
        body = _fitting_doubts(card, [*top, *foot], reserved, 3, least=1)
    return _join_blocks(text, top, body, foot)


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
    """Who asked and until when, and the warnings about the names there."""
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


def _open_blocks(
    card: Card, names: PlaceNames, shared: Sequence[Button], *, is_only: bool
) -> list[Block]:
    """All pending actions and doubts, in full. `shared`: more buttons of each action."""
    above = card.title if is_only else ""
    body: list[Block] = []
    for doubt in card.doubts:
        body += _doubt_below_line(card, doubt)
    for action in card.open_actions:
        action_part = action_blocks(
            card.review_id, action, names, numbered=not is_only, above=above, more=shared
        )
        body += [divider(f"line:{action.key}"), *action_part]
    return body


def _fitting_doubts(
    card: Card, others: list[Block], reserved: int, more_blocks: int, *, least: int = 0
) -> list[Block]:
    """The first doubts that fit beside the others, but at least `least` of them. The others appear when the
    shown ones are decided.
    """
    body: list[Block] = []
    for at, doubt in enumerate(card.doubts):
        doubt_part = _doubt_below_line(card, doubt)
        if at >= least and _is_too_large([*others, *body, *doubt_part], reserved, more_blocks):
            more = more_doubts_line(len(card.doubts) - at)
            return [*body, *context_lines("more:doubt", [more])]
        body += doubt_part
    return body


def _doubt_below_line(card: Card, doubt: Doubt) -> list[Block]:
    return [divider(f"line:doubt:{doubt.key}"), *doubt_blocks(card.review_id, doubt)]


def _next_place(card: Card, names: PlaceNames) -> str:
    return names.name_of(card.next_step.to) if card.next_step else ""


def _foot_lines(text: CardText) -> list[Block]:
    return context_lines("foot", [text.deciders, text.ids] if text.deciders else [text.ids])


def action_blocks(
    review_id: str,
    action: OpenAction,
    names: PlaceNames,
    *,
    numbered: bool = True,
    above: str = "",
    more: Sequence[Button] = (),
) -> list[Block]:
    """One action. Its block ids end in its key. A decided action shows its decision and no buttons. A text
    that is already in the title (`above`) is left out. `more`: buttons beside its own.
    """
    text = action_text(review_id, action, names, numbered=numbered, above=above)
    blocks = _text_blocks(action.key, text)
    if text.decision:
        closed = decision_block([text.decision], MAX_TEXT_SIZE)
        return [*blocks, {**closed, "block_id": f"is:{action.key}"}]
    buttons = (*text.buttons, *more)
    return [*blocks, *button_blocks(f"do:{action.key}:{action.revision}", buttons)]


def doubt_blocks(review_id: str, doubt: Doubt) -> list[Block]:
    """One doubt. It has its own block ids, because the same action may also wait for a decision."""
    text = doubt_text(review_id, doubt)
    buttons = button_blocks(f"doubt:{doubt.key}", text.buttons)
    return [*_text_blocks(f"doubt:{doubt.key}", text), *buttons]


def _text_blocks(key: str, text: ActionText) -> list[Block]:
    arguments = _argument_elements(text.head, text.arguments)
    below = sections((*text.attempt, *text.says, *text.answers, *text.warnings))
    blocks = [rich_text(f"call:{key}", *arguments, *below)]
    if text.edits:
        blocks.append(rich_text(f"edits:{key}", *sections(text.edits)))
    if text.notes:
        blocks += context_lines(f"said:{key}", text.notes)
    if text.votes:
        blocks += context_lines(f"votes:{key}", text.votes)
    return blocks


def _argument_elements(head: Line, arguments: tuple[Argument, ...]) -> list[Element]:
    """Label and value on one line; a longer value in a box."""
    elements: list[Element] = []
    spans = [*head]
    for label, argument in argument_heads(arguments):
        spans += [*([Text("\n")] if spans else []), *label]
        if argument.style != "line":
            elements += [section(spans), box(argument, argument.value)]
            spans = []
    return [*elements, section(spans)] if spans else elements
