"""Arguments in full, cut to the room of a card, and as one line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from hitl_core.jsonschema import to_pointer

from ... import text
from ..values import Argument, ArgumentsExcerpt
from .masking import HIDDEN_MARK, MaskedArgs, mark_hidden, mask
from .rows import Row, argument_rows, choose_style, cut_label, is_large, short_label
from .value_text import draw_value, format_value

#: The limits on a card: characters of one value and of one call, lines of one value, arguments of one call.
MAX_VALUE = 1200
MAX_CALL = 2600
MAX_LINES = 18
MAX_ARGUMENTS = 20
#: Characters of a call's main fact, and of one value in it.
MAX_FACT = 120
MAX_FACT_PART = 60
#: Names of values that come first in a main fact.
_AMOUNT = re.compile(
    "amount|total|price|cost|(?<![a-z])(?:fee|sum)(?![a-z])|currency", re.IGNORECASE
)
#: How many of the arguments that are not shown are named.
MAX_NAMED = 8
#: Above the arguments that a schema does not declare.
UNDECLARED_TITLE = "Not in the tool's schema:"


def all_arguments(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str] = ()
) -> tuple[Argument, ...]:
    """`list_arguments` without a policy."""
    return list_arguments(mask(args, schema, redact))


def list_arguments(masked: MaskedArgs) -> tuple[Argument, ...]:
    """All arguments in full: those of the policy's schema in its order, then the others; of these first the
    ones that fit on one line.
    """
    arguments = [
        _argument(row, row.label, text.to_visible(row.drawing.raw), masked)
        for row in argument_rows(masked)
    ]
    return _with_title(arguments, masked)


def arguments_excerpt(masked: MaskedArgs, room: int = MAX_CALL) -> ArgumentsExcerpt:
    """The arguments that fit. Each value is cut by itself, so a long one can't hide a later one."""
    rows = argument_rows(masked)
    fit: list[Argument] = []
    cut: list[str] = []
    missing = size = 0
    most = max(MAX_VALUE, room // 3)
    lines = max(MAX_LINES, (room - MAX_CALL) // 40)
    for row in rows[:MAX_ARGUMENTS]:
        label, cut_off = cut_label(row.label)
        value = text.excerpt(row.drawing.raw, min(most, max(60, room)), lines=lines)
        room -= value.weight
        missing += cut_off + value.missing
        if cut_off or value.missing:
            cut.append(label)
        size += len(row.label) + len(value.text) + value.missing
        fit.append(_argument(row, label, value.text, masked))
    rest = sum(len(row.label) + len(row.drawing.raw) for row in rows[MAX_ARGUMENTS:])
    return ArgumentsExcerpt(
        _with_title(fit, masked),
        missing + rest,
        len(rows[MAX_ARGUMENTS:]),
        size + rest,
        text.weight("".join(one.label + one.host + one.value for one in fit)),
        any(HIDDEN_MARK in argument.value for argument in fit),
        tuple(cut_label(row.label)[0] for row in rows[MAX_ARGUMENTS:][:MAX_NAMED]),
        tuple(cut),
    )


def main_fact(masked: MaskedArgs, room: int = MAX_FACT) -> str:
    """The main fact of a call in one line: amounts, then the first values, those that the schema declares
    before others, without hidden ones. An amount has its currency.
    """
    parts: list[str] = []
    rows = sorted(masked.items, key=lambda row: row[0] not in masked.declared and is_large(row[1]))
    rows.sort(key=lambda row: not _is_amount(masked, *row))
    for label, value in _facts(masked, rows):
        if room <= 0:
            return " · ".join(parts) + " · …"
        parts.append(f"{label}: {mark_hidden(value) if masked.has_hidden else value}")
        room -= len(parts[-1])
    return " · ".join(parts) or "no arguments"


def _is_amount(masked: MaskedArgs, key: str, value: Any) -> bool:
    """An amount must not be what a cut takes away."""
    hint = masked.hints.get(to_pointer((key,))) if masked.hints else None
    if hint is not None and hint.style == "money":
        return True
    is_amount = isinstance(value, int | float | str) and bool(_AMOUNT.search(key))
    return is_amount and not is_large(value)


def _facts(masked: MaskedArgs, rows: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Labels and values. A currency that is shown with its amount is none of them."""
    values = {to_pointer((key,)): value for key, value in rows} if masked.hints else {}
    amounts = {
        hint.pointer: drawing
        for hint in masked.hints.values()
        if hint.style == "money" and hint.pointer in values
        if (drawing := draw_value(values[hint.pointer], hint, values.get)).has_currency
    }
    with_amounts = {masked.hints[pointer].currency for pointer in amounts}
    for key, value in rows:
        pointer = to_pointer((key,)) if amounts else ""
        if pointer not in with_amounts:
            raw = amounts[pointer].raw if pointer in amounts else _fact_text(value)
            yield short_label(key, masked.schemas.get(key)), _beginning(raw)


def _fact_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict) and is_large(value):
        count = len(cast("Collection[object]", value))
        return f"{count:,} value{'s' * (count != 1)}"
    return format_value(value)


def _beginning(raw: str) -> str:
    short = text.shorten(raw[: 3 * MAX_FACT_PART], MAX_FACT_PART)
    return short if len(raw) <= 3 * MAX_FACT_PART or short.endswith("…") else f"{short}…"


def _argument(row: Row, label: str, visible: str, masked: MaskedArgs) -> Argument:
    drawing = row.drawing
    if masked.has_hidden:
        visible = mark_hidden(visible)
    return Argument(
        label,
        visible,
        drawing.style or choose_style(drawing.raw, visible),
        language=drawing.language,
        host=drawing.host,
        is_declared=row.is_declared,
    )


def _with_title(arguments: Sequence[Argument], masked: MaskedArgs) -> tuple[Argument, ...]:
    """With a title above the first one that the schema does not declare. Without a schema there is none."""
    first = next((at for at, one in enumerate(arguments) if not one.is_declared), None)
    if first is None or not masked.declared:
        return tuple(arguments)
    titled = replace(arguments[first], above=UNDECLARED_TITLE)
    return (*arguments[:first], titled, *arguments[first + 1 :])
