"""Cards and thread lines as lines of text with buttons. It decides nothing, and adds no text of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from bot.card import (
    ActionTable,
    ActionText,
    Argument,
    Button,
    Card,
    Code,
    Emphasis,
    Group,
    Layout,
    Line,
    Link,
    Person,
    PlaceName,
    PlaceNames,
    Quote,
    Span,
    Strong,
    Struck,
    Text,
    ThreadLine,
    Time,
    Verbatim,
    action_text,
    argument_heads,
    card_buttons,
    card_text,
    doubt_text,
    format_utc,
    is_single,
    list_hint,
    list_line,
    more_doubts_line,
    more_line,
    quote,
    refused_card_text,
    shows_list,
    thread_text,
)

from . import network
from .network import Content

NAME = "text"
PERSON_ID = re.compile(r"p-[a-z0-9]{1,20}")
#: Put before each further line of a text of others, so that it can't look like one of our lines.
BAR = "| "
#: The characters of an action that is only one line.
LIST_LINE = 120
MAX_LINE = 2_000


def card_content(card: Card, names: PlaceNames) -> Content:
    """The card in full if that fits, else a table; else one line for each action, the first ones that fit."""
    top, doubts, actions, decided, foot = _parts(card, names)
    foot_in_full = join(_buttons(card, names, "full"), foot)
    full = join(top, *doubts, *actions, *decided, foot_in_full)
    if not shows_list(card, fits=full.fits):
        return full if full.fits else _cut(top, [*doubts, *actions, *decided], foot_in_full)
    top = join(top, _fitting_doubts(doubts))
    hint = Content(to_lines([list_hint(card)]))
    if card.table and not card.table.more:
        listed = [_buttons(card, names, "table"), _table(card.table), hint]
        if (whole := join(top, *listed, *decided, foot)).fits:
            return whole
    lines = [Content(to_lines([list_line(one, LIST_LINE, len)])) for one in card.waiting]
    if card.more_waiting:
        lines.append(Content(to_lines([more_line(card.more_waiting)])))
    foot = join(hint, _buttons(card, names, "lines"), foot)
    return _cut(top, [*lines, *decided], foot)


def _fitting_doubts(doubts: Sequence[Content]) -> Content:
    """The first ones that fit in half of a message: the list below them needs the other half."""
    kept = Content(())
    for count, doubt in enumerate(doubts):
        if not join(kept, doubt, kept, doubt).fits:
            return join(kept, Content(to_lines([more_doubts_line(len(doubts) - count)])))
        kept = join(kept, doubt)
    return kept


def _cut(top: Content, rest: Sequence[Content], foot: Content) -> Content:
    """With the first parts that fit."""
    kept: list[Content] = []
    for count, part in enumerate(rest):
        more = Content(to_lines([more_line(len(rest) - count)]))
        if not join(top, *kept, part, more, foot).fits:
            return join(top, *kept, more, foot)
        kept.append(part)
    return join(top, *kept, foot)


def plain_content(card: Card) -> Content:
    return notice(refused_card_text(card))


def notice(*lines: str) -> Content:
    return Content(to_lines([(Text(line),) for line in lines]))


def thread_content(line: ThreadLine, names: PlaceNames) -> Content:
    return Content(to_lines([thread_text(line, names)]))


def action_content(text: ActionText, number: int | None = None) -> Content:
    """`number` distinguishes its buttons from those of other actions."""
    below = [
        *text.attempt,
        *text.says,
        *text.answers,
        *text.warnings,
        *text.edits,
        *text.notes,
        *text.votes,
        text.decision,
    ]
    lines = (*to_lines([text.head]), *argument_lines(text.arguments), *to_lines(below))
    return Content(lines, to_buttons(text.buttons, number))


def argument_lines(arguments: Iterable[Argument]) -> tuple[str, ...]:
    """Long lines are cut into several."""
    lines = (line for one in argument_heads(arguments) for line in _argument_text(*one).split("\n"))
    return tuple(
        BAR * bool(at) + line[at : at + MAX_LINE]
        for line in lines
        for at in range(0, max(1, len(line)), MAX_LINE)
    )


def _argument_text(label: Line, argument: Argument) -> str:
    head = "".join(map(_span, label))
    return head if argument.style == "line" else f"{head}: {_foreign(argument.value)}"


def to_buttons(buttons: Iterable[Button], number: int | None = None) -> tuple[network.Button, ...]:
    return tuple(_button(one, "" if number is None else f" {number}") for one in buttons)


def join(*parts: Content) -> Content:
    lines = tuple(line for part in parts for line in part.lines)
    return Content(lines, tuple(button for part in parts for button in part.buttons))


def to_lines(lines: Iterable[Line]) -> tuple[str, ...]:
    """Each as one line, or as several if our own words have line breaks. Empty ones are left out."""
    return tuple(one for line in lines for one in "".join(map(_span, line)).split("\n") if one)


def _button(button: Button, suffix: str) -> network.Button:
    ask = button.confirmation
    question = _escape(f"{ask.title} {ask.text}") if ask else ""
    return network.Button(f"{_escape(button.label)}{suffix}", button.value, question)


def _parts(
    card: Card, names: PlaceNames
) -> tuple[Content, Sequence[Content], Sequence[Content], Sequence[Content], Content]:
    text = card_text(card, names)
    problems = [line for one in (*text.problems, *text.notes) for line in one]
    top = [(Strong(card.title),), *text.calls, *text.origin, *text.warnings, *problems]
    is_only = is_single(card)
    doubts = [
        action_content(doubt_text(card.review_id, one), number if len(card.doubts) > 1 else None)
        for number, one in enumerate(card.doubts, start=1)
    ]
    actions = [
        action_content(
            action_text(
                card.review_id,
                one,
                names,
                numbered=not is_only,
                above=card.title if is_only else "",
            ),
            None if is_only else one.number,
        )
        for one in card.open_actions
    ]
    decided = [Content(to_lines([line])) for line in text.decisions]
    return Content(to_lines(top)), doubts, actions, decided, _foot(card, names)


def _foot(card: Card, names: PlaceNames) -> Content:
    text = card_text(card, names)
    return Content(to_lines([*text.cancel_votes, text.elsewhere, text.deciders, text.ids]))


def _buttons(card: Card, names: PlaceNames, layout: Layout) -> Content:
    step = names.name_of(card.next_step.to) if card.next_step else ""
    return Content((), to_buttons(card_buttons(card, layout=layout, next_place=step)))


def _table(table: ActionTable) -> Content:
    """A row as one line, with its cells between bars."""
    head: list[Line] = [(Strong(label),) for label in table.head]
    rows = [head, *(list(row.cells) for row in table.rows)]
    lines = [to_lines([_row_line(cells)])[0] for cells in rows]
    return join(Content(to_lines(table.common)), Content(tuple(lines)))


def _row_line(cells: Sequence[Line]) -> Line:
    spans: list[Span] = []
    for at, cell in enumerate(cells):
        spans += [Text("  ¦  "), *cell] if at else cell
    return tuple(spans)


def _span(span: Span) -> str:
    match span:
        case Text():
            return _escape(span.text)
        case Strong() | Emphasis() | Struck() | Code() | Verbatim():
            return _foreign(span.text)
        case Quote():
            return _foreign(quote(span.text))
        case Person():
            is_ours = span.channel == NAME and PERSON_ID.fullmatch(span.id)
            return f"@{span.id}" if is_ours else _foreign(span.label)
        case Group() | PlaceName():
            return _foreign(span.label)
        case Time():
            return format_utc(span.at)
        case Link():
            return f"{_escape(span.label)} ({_escape(span.url)})"
    assert_never(span)


def _foreign(text: str) -> str:
    """Text of others."""
    return _escape(text).replace("\n", f"\n{BAR}")


def _escape(text: str) -> str:
    """`@@` is an @ that mentions nobody."""
    return text.replace("@", "@@")
