"""Shows a list of texts or numbers as the lines of one text input, and reads it."""

from __future__ import annotations

import json
from typing import Any, assert_never, cast

from hitl_core.forms.fields.hints import are_numbers
from hitl_core.forms.fields.json_text import read_integer, read_number
from hitl_core.forms.slot import ItemKind, Slot

_ITEMS: dict[str, ItemKind] = {"string": "text", "integer": "integer", "number": "number"}


def item_kind(schema: dict[str, Any]) -> ItemKind | None:
    """The kind of item on each line; None if such items can't be written as lines."""
    kind = schema.get("type")
    return _ITEMS.get(kind) if isinstance(kind, str) else None


def format_lines(items: list[Any], item: ItemKind) -> str | None:
    """The text; None if reading it would not give the same items."""
    if item == "text":
        plain = all(isinstance(x, str) and x.strip() and len(x.splitlines()) == 1 for x in items)
        return "\n".join(cast("list[str]", items)) if plain and not _has_line_end(items) else None
    if not are_numbers(items):
        return None
    return json.dumps(items)[1:-1].replace(", ", "\n")


def _has_line_end(items: list[str]) -> bool:
    """Whether an item ends with a line end. `splitlines` counts this as one line."""
    return any(text.splitlines()[0] != text for text in items)


def read_lines(slot: Slot, answer: str) -> list[Any]:
    """The items. An unchanged line gives the item that it had before. Raises ValueError."""
    held = [] if slot.is_empty else cast("list[Any]", slot.value)
    known = dict(zip((slot.field.initial or "").split("\n"), held, strict=False))
    items: list[Any] = []
    for number, line in enumerate(answer.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if not line.strip():
            continue
        try:
            items.append(known[line] if line in known else _read_item(slot.item, line))
        except ValueError as error:
            raise ValueError(f"line {number} {error}") from error
    return items


def _read_item(item: ItemKind, line: str) -> Any:
    match item:
        case "text":
            return line
        case "integer":
            return read_integer(line)
        case "number":
            return read_number(line)
    assert_never(item)
