"""One row for each value that people read."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from hitl_core.jsonschema import to_pointer

from ...value_text import format_value
from .labels import PATH_SEPARATOR, PLAIN_NAME, argument_label, quote_key, schema_properties
from .masking import MaskedArgs, keys_in_order
from .styles import Drawing, draw_value, has_own_lines

#: The most values in a small object.
MAX_PARTS = 6


class Row(NamedTuple):
    """`is_declared`: the schema has this argument."""

    label: str
    drawing: Drawing
    is_declared: bool

    @property
    def raw(self) -> str:
        return self.drawing.raw


class _Cell(NamedTuple):
    pointer: str
    label: str
    value: Any
    is_declared: bool


def argument_rows(masked: MaskedArgs) -> list[Row]:
    """The declared ones in the schema's order, then the others; of those first the short ones. A currency
    that is shown with its amount has no row.
    """
    cells = [cell for key, value in masked.items for cell in _cells(key, value, masked)]
    values = {cell.pointer: cell.value for cell in cells} if masked.hints else {}
    drawings = [
        draw_value(cell.value, masked.hints.get(cell.pointer), values.get) for cell in cells
    ]
    with_amounts = {
        masked.hints[cell.pointer].currency
        for cell, drawing in zip(cells, drawings, strict=True)
        if drawing.has_currency
    }
    rows = [
        Row(cell.label, drawing, cell.is_declared)
        for cell, drawing in zip(cells, drawings, strict=True)
        if cell.pointer not in with_amounts
    ]
    return sorted(rows, key=lambda row: 0 if row.is_declared else 1 + has_own_lines(row.raw))


def _cells(key: str, value: Any, masked: MaskedArgs) -> list[_Cell]:
    """One cell; for a small object one for each value, as in the form."""
    is_declared, pointer = key in masked.declared, to_pointer((key,))
    is_foreign = bool(masked.declared) and not is_declared
    label = quote_key(key) if is_foreign else argument_label(key, masked.schema)
    if not _is_small(key, value, pointer, masked):
        return [_Cell(pointer, label, value, is_declared)]
    within = schema_properties(masked.schema).get(key)
    within = cast("dict[str, Any]", within) if isinstance(within, dict) else None
    return [
        _Cell(
            f"{pointer}/{name}",
            f"{label}{PATH_SEPARATOR}{argument_label(name, within)}",
            value[name],
            is_declared and _is_declared_in(masked.declared[key], name),
        )
        for name in keys_in_order(value, within)
    ]


def _is_declared_in(schema: object, name: str) -> bool:
    """Also if the schema leaves open which names there are: they are plain ones."""
    known = schema_properties(cast("dict[str, Any]", schema) if isinstance(schema, dict) else None)
    return name in known or not known


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


def is_large(value: Any) -> bool:
    """Whether it would be shown on its own lines."""
    if isinstance(value, str):
        return has_own_lines(value)
    return isinstance(value, dict) or (
        isinstance(value, list) and has_own_lines(format_value(value))
    )
