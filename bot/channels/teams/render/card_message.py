"""A card as an Adaptive Card. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from ....card import (
    ActionText,
    Button,
    Card,
    CardText,
    Doubt,
    Line,
    OpenAction,
    ThreadLine,
    action_text,
    card_buttons,
    card_text,
    doubt_text,
    is_single,
    more_doubts_line,
    no_url,
    refused_card_text,
    shows_list,
    thread_text,
)
from ..ids import ON_CARD, ButtonKey, Where, message_mark
from .card_builder import CardBuilder, MessageLink, Names, place_names
from .elements import (
    MAX_BYTES,
    TITLE,
    Json,
    adaptive_card,
    fitting_card,
    rich_text,
    text_runs,
    total_size,
)
from .lists import fitting_lines, list_elements
from .markup import mentions, runs

#: The space for all elements. The rest is for the card around them.
ROOM = MAX_BYTES - 1_000
#: Reserved for the lines of decided actions while others still wait, and for the buttons above a list.
DECIDED_SIZE = 3_000
BUTTONS_SIZE = 1_500
#: Reserved for a list below calls in doubt.
LIST_SIZE = 6_000


def card_message(
    card: Card,
    names: Names,
    key: ButtonKey,
    link: MessageLink = no_url,
    where: Where = ON_CARD,
) -> Json:
    """At most MAX_BYTES. What doesn't fit is counted, and can be read one by one. People's names are cut if
    they alone take too much room.
    """
    full = CardBuilder.of(names, key, link, where)
    drawings = (_draw(card, builder) for builder in (full, full.in_short))
    return fitting_card(chain(drawings, [plain_card(card)]))


def _draw(card: Card, builder: CardBuilder) -> Json:
    text = card_text(card, builder.names)
    calls, entities = mentions(text.calls, builder.names)
    return adaptive_card(_fitting_body(card, text, builder, calls), entities)


def plain_card(card: Card) -> Json:
    """A short card in place of one that Teams refused."""
    title = rich_text(
        text_runs(card.bare_title, **TITLE), id=message_mark(card.review_id, card.place)
    )
    return fitting_card([adaptive_card([title, rich_text(text_runs(refused_card_text(card)))])])


def thread_card(line: ThreadLine, names: Names) -> Json:
    """One line below the card."""
    known = place_names(names)
    text = thread_text(line, known)
    calls, entities = mentions([text], known)
    shown = rich_text(runs(text, known))
    return fitting_card([adaptive_card([shown, *calls], entities), adaptive_card([shown])])


def _fitting_body(
    card: Card, text: CardText, builder: CardBuilder, calls: list[Json]
) -> list[Json]:
    top, foot = [*_header(card, text, builder), *calls], _foot(text, builder)
    next_place = builder.names.name_of(card.next_step.to) if card.next_step else ""
    buttons = card_buttons(card, layout="full", next_place=next_place)
    # The rare buttons of a card with one action are in the menu of this action.
    shared = buttons if is_single(card) and all(one.is_rare for one in buttons) else ()
    parts = _open_parts(card, builder, shared)
    body = [element for part in parts for element in part]
    reserved = DECIDED_SIZE if text.decisions and body else 0
    all_buttons = [] if shared else with_line_above(builder.buttons(buttons))
    room = ROOM - reserved - total_size([*top, *foot])
    fits = total_size([*body, *all_buttons]) <= room
    if shows_list(card, fits=fits):
        doubts = _fitting_doubts(parts[: len(card.doubts)], builder, room - LIST_SIZE)
        room -= total_size(doubts)
        layout, listed = list_elements(card, builder, room - BUTTONS_SIZE)
        buttons = card_buttons(card, layout=layout, next_place=next_place)
        in_list = [*builder.buttons(buttons), *listed]
        body, all_buttons = [*doubts, *(with_line_above(in_list) if doubts else in_list)], []
    elif not fits:
        body = _fitting_doubts(parts, builder, room - total_size(all_buttons), least=1)
    if text.decisions:
        left = ROOM - total_size([*top, *body, *all_buttons, *foot])
        decided = fitting_lines(text.decisions, builder, left)
        body = [*body, *with_line_above(decided)]
    return [*top, *body, *all_buttons, *foot]


def _header(card: Card, text: CardText, builder: CardBuilder) -> list[Json]:
    mark = message_mark(card.review_id, card.place)
    return [
        rich_text(text_runs(card.title, **TITLE), id=mark),
        *builder.facts(text.calls),
        *origin_elements(text, builder),
        *notes_elements(text.problems, builder),
        *notes_elements(text.notes, builder),
        *builder.small_lines(text.cancel_votes),
        *builder.small_lines([text.elsewhere]),
    ]


def origin_elements(text: CardText, builder: CardBuilder) -> list[Json]:
    """Who asked and until when, and the warnings about the names there."""
    return [*builder.facts(text.origin), *builder.alerts(text.warnings)]


def notes_elements(notes: Sequence[Sequence[Line]], builder: CardBuilder) -> list[Json]:
    return [element for lines in notes for element in builder.small_lines(lines)]


def _foot(text: CardText, builder: CardBuilder) -> list[Json]:
    return with_line_above(builder.small_lines([text.deciders, text.ids]))


def with_line_above(elements: list[Json]) -> list[Json]:
    """The elements, with a line above them."""
    if not elements:
        return []
    return [{**elements[0], "separator": True, "spacing": "medium"}, *elements[1:]]


def _open_parts(card: Card, builder: CardBuilder, shared: Sequence[Button]) -> list[list[Json]]:
    """All doubts and pending actions, in full. `shared`: more buttons of each action."""
    is_only = is_single(card)
    above = card.title if is_only else ""
    doubts = [doubt_elements(card.review_id, one, builder) for one in card.doubts]
    actions = [
        action_elements(
            card.review_id, one, builder, numbered=not is_only, above=above, more=shared
        )
        for one in card.open_actions
    ]
    return [with_line_above(part) for part in (*doubts, *actions)]


def _fitting_doubts(
    parts: Sequence[list[Json]], builder: CardBuilder, room: int, *, least: int = 0
) -> list[Json]:
    """The first doubts that fit, at least `least`. The others appear when the shown ones are decided."""
    body: list[Json] = []
    for at, part in enumerate(parts):
        more = builder.small_lines([more_doubts_line(len(parts) - at)])
        if at >= least and total_size([*body, *part, *more]) > room:
            return [*body, *more]
        body += part
    return body


def action_elements(
    review_id: str,
    action: OpenAction,
    builder: CardBuilder,
    *,
    numbered: bool = True,
    above: str = "",
    more: Sequence[Button] = (),
) -> list[Json]:
    """One action. A decided action shows its decision and no buttons. A text that is already in the title
    (`above`) is left out. `more`: buttons beside its own.
    """
    text = action_text(review_id, action, builder.names, numbered=numbered, above=above)
    elements = text_elements(text, builder)
    if text.decision:
        return [*elements, *builder.lines([text.decision])]
    return [*elements, *builder.buttons((*text.buttons, *more))]


def doubt_elements(review_id: str, doubt: Doubt, builder: CardBuilder) -> list[Json]:
    text = doubt_text(review_id, doubt)
    return [*text_elements(text, builder), *builder.buttons(text.buttons)]


def text_elements(text: ActionText, builder: CardBuilder) -> list[Json]:
    return [
        *builder.arguments(text.head, text.arguments),
        *builder.lines((*text.attempt, *text.says, *text.answers)),
        *builder.alerts(text.warnings),
        *builder.lines(text.edits),
        *builder.small_lines((*text.notes, *text.votes)),
    ]
