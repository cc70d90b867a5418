"""Arguments in full, and cut to the space of a card. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ... import text
from ..model import Argument, ArgumentsExcerpt, Line
from .cut_json import cut_json
from .masking import HIDDEN_MARK, MaskedArgs, mark_hidden
from .rows import MAX_LABEL, Row, argument_rows
from .value_text import choose_styles

#: The limits on a card: characters of one value and of one call, lines of one value, and arguments of one
#: call.
MAX_VALUE = 1200
MAX_CALL = 2600
MAX_LINES = 18
MAX_ARGUMENTS = 20
#: The most arguments that are named if they are not shown.
MAX_NAMED = 8
#: The characters that markup writes as entities, which are longer.
_ENTITIES = re.compile("[&<>]")
#: The title above the arguments that the schema does not declare.
UNDECLARED_TITLE = "Not in the tool's schema:"


def list_arguments(
    masked: MaskedArgs, warnings: Mapping[str, tuple[Line, ...]] | None = None
) -> tuple[Argument, ...]:
    """All arguments in full: first those of the policy's schema in its order, then the others. Of the others,
    values on one line come first. `warnings`, by key, are shown above the first value of their argument.
    """
    left, rows = dict(warnings or {}), argument_rows(masked)
    shown = [(row, row.label, text.to_visible(row.drawing.raw)) for row in rows]
    arguments = [
        replace(argument, warnings=left.pop(row.path[0], ()))
        for row, argument in zip(rows, _arguments(shown, masked), strict=True)
    ]
    return _with_title(arguments, masked)


def arguments_excerpt(
    masked: MaskedArgs, rows: Sequence[Row], room: int = MAX_CALL
) -> ArgumentsExcerpt:
    """The arguments that fit, cut where needed. `rows`: all of them."""
    first, others = rows[:MAX_ARGUMENTS], rows[MAX_ARGUMENTS:]
    labels = [cut_label(row.label) for row in first]
    values = _cut_values(first, room)
    cells = [*zip(first, labels, values, strict=True)]
    fit = _arguments([(row, label, value.text) for row, (label, _), value in cells], masked)
    rest = sum(len(row.label) + len(row.drawing.raw) for row in others)
    size = sum(len(row.label) + len(value.text) + value.missing for row, _, value in cells)
    return ArgumentsExcerpt(
        _with_title(fit, masked),
        sum(cut_off + value.missing for _, (_, cut_off), value in cells) + rest,
        len(others),
        size + rest,
        text.weight("".join(one.label + one.host + one.value for one in fit)),
        any(HIDDEN_MARK in argument.value for argument in fit),
        tuple(cut_label(row.label)[0] for row in others[:MAX_NAMED]),
        tuple(label for _, (label, cut_off), value in cells if cut_off or value.missing),
    )


def cut_label(label: str) -> tuple[str, int]:
    """The label, cut to what fits, and the number of missing characters."""
    if len(label) <= MAX_LABEL and not _ENTITIES.search(label):
        return label, 0
    cut = text.truncate(label, MAX_LABEL)
    return cut.text, cut.missing


def _cut_values(rows: Sequence[Row], room: int) -> list[text.CutText]:
    """The text of each value. Each is cut by itself, so a long value can't hide a later one."""
    most, lines = max(MAX_VALUE, room // 3), max(MAX_LINES, (room - MAX_CALL) // 40)
    values: list[text.CutText] = []
    for row, value in zip(rows, text.visible_texts([row.drawing.raw for row in rows]), strict=True):
        limit = min(most, max(60, room))
        if value is None or value.weight > limit or value.text.count("\n") > lines:
            cut = text.excerpt(row.drawing.raw, limit, lines=lines)
            value = (cut.missing and cut_json(row.value, limit, lines)) or cut
        room -= value.weight
        values.append(value)
    return values


def _arguments(shown: Sequence[tuple[Row, str, str]], masked: MaskedArgs) -> list[Argument]:
    """The arguments of these rows, each with its label and its text."""
    texts = [mark_hidden(visible) if masked.has_hidden else visible for _, _, visible in shown]
    raws = [row.drawing.raw for row, _, _ in shown]
    return [
        Argument(
            label,
            visible,
            row.drawing.style or style,
            language=row.drawing.language,
            host=row.drawing.host,
            is_declared=row.is_declared,
        )
        for (row, label, _), visible, style in zip(
            shown, texts, choose_styles(raws, texts), strict=True
        )
    ]


def _with_title(arguments: Sequence[Argument], masked: MaskedArgs) -> tuple[Argument, ...]:
    """The arguments, with a title above the first one that the schema does not declare. Without a schema
    there is no title.
    """
    first = next((at for at, one in enumerate(arguments) if not one.is_declared), None)
    if first is None or not masked.declared:
        return tuple(arguments)
    titled = replace(arguments[first], above=UNDECLARED_TITLE)
    return (*arguments[:first], titled, *arguments[first + 1 :])
