"""One row for each value that people read, with its label; and the main fact of a call, on one line. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from hitl_core.jsonschema import schema_properties, to_pointer

from ... import text
from ..model import as_part, as_parts, clip_parts, close_quote, quote
from .masking import MaskedArgs, keys_in_order, mark_hidden
from .value_text import Drawing, draw_value, draw_values, fact_texts, is_large

#: The most values in a small object.
MAX_PARTS = 6
MAX_LABEL = 60
MAX_FACT_LABEL = 30
#: The separator between the name of a small object and the name of a value in it.
PATH_SEPARATOR = " › "  # noqa: RUF001
#: A plain key. Any other key is quoted, because it could look like our text.
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
#: The most characters of a call's main fact, and of one value in it.
MAX_FACT = 120
MAX_FACT_PART = 60
#: The separator between the values of a main fact.
FACT_SEPARATOR = " · "
#: The names of values that come first in a main fact.
_AMOUNT = re.compile(
    "amount|total|price|cost|(?<![a-z])(?:fee|sum)(?![a-z])|currency", re.IGNORECASE
)


class Row(NamedTuple):
    """`path`: the argument's key, and the value's key inside a small object. Two labels may look the same.
    `is_declared`: the schema declares it.
    """

    label: str
    drawing: Drawing
    is_declared: bool
    path: tuple[str, ...]
    value: Any


class _Cell(NamedTuple):
    pointer: str
    label: str
    value: Any
    is_declared: bool
    path: tuple[str, ...]


def argument_rows(masked: MaskedArgs) -> list[Row]:
    """The rows. Declared arguments come first, in the schema's order; of the others, short ones come first. A
    currency that is shown with its amount has no row.
    """
    cells = [cell for key, value in masked.items for cell in _cells(key, value, masked)]
    drawings = draw_values([(cell.pointer, cell.value) for cell in cells], masked.hints)
    with_amounts = {
        masked.hints[cell.pointer].currency
        for cell, drawing in zip(cells, drawings, strict=True)
        if drawing.has_currency
    }
    rows = [
        Row(cell.label, drawing, cell.is_declared, cell.path, cell.value)
        for cell, drawing in zip(cells, drawings, strict=True)
        if cell.pointer not in with_amounts
    ]
    return sorted(rows, key=lambda row: 0 if row.is_declared else 1 + row.drawing.is_block)


def main_fact(masked: MaskedArgs, room: int = MAX_FACT) -> str:
    """The main fact of a call on one line: amounts first, then the first values, declared ones before others,
    without hidden values. An amount has its currency.
    """
    parts: list[str] = []
    rows = sorted(masked.items, key=lambda row: row[0] not in masked.declared and is_large(row[1]))
    rows.sort(key=lambda row: not _is_amount(masked, *row))
    facts = _facts(masked, rows, room)
    values = _beginnings([raw for _, raw in facts])
    if masked.has_hidden:
        values = list(map(mark_hidden, values))
    for (label, _), value in zip(facts, as_parts(values), strict=True):
        if room <= 0:
            return FACT_SEPARATOR.join([*parts, "…"])
        parts.append(f"{label}: {value}")
        room -= len(parts[-1])
    return FACT_SEPARATOR.join(parts) or "no arguments"


def shorten_fact(fact: str, most: int) -> str:
    """The first whole values of a main fact that fit; of the first value at least its beginning."""
    if len(fact) <= most:
        return fact
    first, *others = fact.split(FACT_SEPARATOR)
    short, cut = text.clip(first, most), f"{FACT_SEPARATOR}…"
    for part in others:
        if len(longer := f"{short}{FACT_SEPARATOR}{part}") > most - len(cut):
            break
        short = longer
    return close_quote(short if short.endswith("…") else short + cut)


def _is_amount(masked: MaskedArgs, key: str, value: Any) -> bool:
    """Whether it is an amount: a cut must not remove it."""
    hint = masked.hints.get(to_pointer((key,))) if masked.hints else None
    if hint is not None and hint.style == "money":
        return True
    is_amount = isinstance(value, int | float | str) and bool(_AMOUNT.search(key))
    return is_amount and not is_large(value)


def _facts(masked: MaskedArgs, rows: Sequence[tuple[str, Any]], room: int) -> list[tuple[str, str]]:
    """The first labels and values: as many as their labels alone would fill the space, and one more. A
    currency that is shown with its amount is left out.
    """
    values = {to_pointer((key,)): value for key, value in rows} if masked.hints else {}
    amounts = {
        hint.pointer: drawing
        for hint in masked.hints.values()
        if hint.style == "money" and hint.pointer in values
        if (drawing := draw_value(values[hint.pointer], hint, values.get)).has_currency
    }
    with_amounts = {masked.hints[pointer].currency for pointer in amounts}
    if amounts:
        rows = [(key, value) for key, value in rows if to_pointer((key,)) not in with_amounts]
    labels: list[str] = []
    for key, _ in rows:
        labels.append(short_label(key, masked.schemas.get(key)))
        if room <= 0:
            break
        room -= len(f"{labels[-1]}: ")
    rows = rows[: len(labels)]
    raws = fact_texts([value for _, value in rows])
    if amounts:
        drawn = [amounts.get(to_pointer((key,))) for key, _ in rows]
        raws = [one.raw if one else raw for one, raw in zip(drawn, raws, strict=True)]
    return list(zip(labels, raws, strict=True))


def _beginnings(raws: Sequence[str]) -> list[str]:
    most = 3 * MAX_FACT_PART
    shorts = text.shorten_each([raw[:most] for raw in raws], MAX_FACT_PART)
    return [
        short if len(raw) <= most or short.endswith("…") else f"{short}…"
        for raw, short in zip(raws, shorts, strict=True)
    ]


def _cells(key: str, value: Any, masked: MaskedArgs) -> list[_Cell]:
    """The cells of a value: one, or one for each value of a small object, as in the form."""
    is_declared, pointer = key in masked.declared, to_pointer((key,)) if masked.hints else ""
    is_foreign = bool(masked.declared) and not is_declared
    label = quote_key(key) if is_foreign else argument_label(key, masked.schemas.get(key))
    if not _is_small(key, value, pointer, masked):
        return [_Cell(pointer, label, value, is_declared, (key,))]
    within = schema_properties(masked.schemas.get(key))
    known = schema_properties(masked.declared.get(key))
    return [
        _Cell(
            f"{pointer}/{name}",
            f"{label}{PATH_SEPARATOR}{argument_label(name, within.get(name))}",
            value[name],
            # If the schema doesn't say which names there are, all plain names count as declared.
            is_declared and (name in known or not known),
            (key, name),
        )
        for name in keys_in_order(value, within)
    ]


def _is_small(key: str, value: Any, pointer: str, masked: MaskedArgs) -> bool:
    """Whether it is an object with a few short values and plain names. A value with a hint may be long."""
    if not isinstance(value, dict):
        return False
    inner = cast("dict[str, Any]", value)
    return (
        0 < len(inner) <= MAX_PARTS
        and all(map(PLAIN_NAME.fullmatch, (key, *inner)))
        and not any(
            is_large(each)
            for name, each in inner.items()
            if f"{pointer}/{name}" not in masked.hints or not isinstance(each, str)
        )
    )


def argument_label(key: str, schema: object = None) -> str:
    """A key on one line, in quotes if it is not a plain name. As in the form, the title of its own schema
    comes first if it says more than the key.
    """
    label = key if PLAIN_NAME.fullmatch(key) else quote_key(key)
    title = cast("dict[str, Any]", schema).get("title") if isinstance(schema, dict) else None
    if not isinstance(title, str) or _normalize_name(title) in ("", _normalize_name(key)):
        return label
    return f"{text.shorten(title.strip(), MAX_LABEL)} ({label})"


def quote_key(key: str) -> str:
    return text.one_line(f'"{key}"')


def short_label(key: str, schema: object = None) -> str:
    """A label for a line with several arguments. A quoted key can't close its quotation marks, even cut."""
    label = argument_label(key, schema)
    if label.startswith('"'):
        return quote(text.clip(label[1:-1], MAX_FACT_LABEL - 2))
    if label.endswith('")'):
        label = as_part(label)
    return label if len(label) <= MAX_FACT_LABEL else clip_parts(label, MAX_FACT_LABEL)


def _normalize_name(name: str) -> str:
    """A name without its spelling style: `orderId`, `order_id` and "Order ID" become the same."""
    return re.sub(r"[\s_-]", "", name).casefold()
