"""The input of one value: which kind its schema asks for, and what it shows."""

from __future__ import annotations

import json
import math
from typing import Any, Literal, NamedTuple, cast

from hitl_core.forms.changed import changed
from hitl_core.forms.choices import YES_NO, choice, choices, options_of
from hitl_core.forms.formats import conforms
from hitl_core.forms.hints import is_number
from hitl_core.forms.jsontext import pretty
from hitl_core.forms.lines import as_lines, item_of
from hitl_core.forms.shape import Conflict, Schema, Shapes
from hitl_core.forms.slot import ABSENT, Slot, width
from hitl_core.forms.times import date_shown, moment_shown, time_shown, zone_words

_LONG = 80
_EXACT = 2**53


class Room(NamedTuple):
    """What inputs hold: UTF-16 units of text, and options to choose from."""

    text: int
    options: int


def with_input(slot: Slot, schema: Schema, shapes: Shapes, room: Room) -> Slot:
    """The slot with the input that the schema asks for, or JSON where that can't show the value."""
    value, empty, max_text = slot.value, slot.empty, room.text
    offered = options_of(schema)
    if offered and len(offered) <= room.options:
        return choice(slot, offered)
    if offered and all(isinstance(option, str) for _, option in offered):
        schema = {**schema, "type": "string"}
    match schema.get("type"):
        case "boolean" if empty or isinstance(value, bool):
            return choice(slot, YES_NO, "boolean")
        case "string" if empty or isinstance(value, str):
            return _string(slot, schema, max_text)
        case "integer" if empty or _is_whole(value):
            return _number(slot, "integer", schema)
        case "number" if empty or is_number(value):
            return _number(slot, "number", schema)
        case "array" if empty or isinstance(value, list):
            return _array(slot, schema, shapes, room) or as_json(slot, max_text)
        case _:
            return as_json(slot, max_text)


def as_json(slot: Slot, max_text: int, shown: Any = None) -> Slot:
    """`shown` stands for a value that holds something hidden."""
    value = slot.value if shown is None else shown
    text = None if slot.value is ABSENT else _written(value, max_text)
    field = changed(slot.field, kind="json", initial=text, max_length=max_text)
    return changed(slot, field=field, reads="json")


def _written(value: Any, max_text: int) -> str:
    """Pretty where that fits; to write the rest so would take long."""
    short = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if width(short) > max_text:
        return short
    text = pretty(value)
    return text if width(text) <= max_text else short


def _string(slot: Slot, schema: Schema, max_text: int) -> Slot:
    text = None if slot.empty else cast(str, slot.value)
    match schema.get("format"):
        case "date" if text is None or (date_shown(text) and not slot.field.locked):
            field = changed(slot.field, kind="date", initial=text)
            return changed(slot, field=field, reads="date")
        case "time" if text is None or (time_shown(text) and not slot.field.locked):
            shown = None if text is None else time_shown(text)
            field = changed(slot.field, kind="time", initial=shown, hint=zone_words(text))
            return changed(slot, field=field, reads="time")
        case "date-time" if text is None or (moment_shown(text) and not slot.field.locked):
            shown = None if text is None else moment_shown(text)
            field = changed(slot.field, kind="datetime", initial=shown)
            return changed(slot, field=field, reads="datetime")
        case "email" | "uri" as form if not text or conforms(form, text):
            slot = _text(slot, schema, text or "", max_text)
            return changed(slot, field=changed(slot.field, kind=form))
        case _:
            return _text(slot, schema, text or "", max_text)


def _text(slot: Slot, schema: Schema, value: str, max_text: int) -> Slot:
    least, most = schema.get("minLength"), schema.get("maxLength", max_text)
    long = len(value) > _LONG or len(value.splitlines()) > 1 or value.endswith(("\n", "\r"))
    long = long or schema.get("maxLength", 0) > 200 or "contentMediaType" in schema
    field = changed(
        slot.field,
        kind="long_text" if long else "text",
        initial=value or None,
        required=slot.field.required and slot.value != "" and schema.get("minLength") != 0,
        min_length=int(least) if least and len(value) >= least and least <= max_text else None,
        max_length=int(most) if most <= max_text and len(value) <= most else max_text,
    )
    return changed(slot, field=field, reads="text")


def _number(slot: Slot, kind: Literal["integer", "number"], schema: Schema) -> Slot:
    value: int | float | None = None if slot.empty else slot.value
    if kind == "integer" and value is not None:
        value = int(value)
    initial = None if value is None else json.dumps(value)
    plain = value is None or ("e" not in json.dumps(value) and abs(value) <= _EXACT)
    least, most = schema.get("minimum"), schema.get("maximum")
    if kind == "integer" and least is None and is_number(schema.get("exclusiveMinimum")):
        least = math.floor(schema["exclusiveMinimum"]) + 1
    if kind == "integer" and most is None and is_number(schema.get("exclusiveMaximum")):
        most = math.ceil(schema["exclusiveMaximum"]) - 1
    keeps_least = value is None or least is None or value >= least
    keeps_most = value is None or most is None or value <= most
    field = changed(
        slot.field,
        kind=kind if plain else "text",  # number inputs round what is large
        initial=initial,
        minimum=_limit(least) if plain and keeps_least else None,
        maximum=_limit(most) if plain and keeps_most else None,
    )
    return changed(slot, field=field, reads=kind)


def _limit(limit: int | float | None) -> str | None:
    text = None if limit is None else json.dumps(limit)
    return None if text is None or "e" in text else text


def _array(slot: Slot, schema: Schema, shapes: Shapes, room: Room) -> Slot | None:
    try:
        items, nullable = shapes.plain(schema.get("items", {}))
    except Conflict:
        return None
    if nullable or "prefixItems" in schema:
        return None
    may_be_empty = slot.value == [] or not schema.get("minItems")
    slot = changed(
        slot, field=changed(slot.field, required=slot.field.required and not may_be_empty)
    )
    offered = options_of(items)
    if offered and len(offered) <= room.options:
        return choices(slot, offered, schema)
    item = item_of(items)
    text = as_lines([] if slot.empty else slot.value, item) if item else None
    if item is None or text is None:
        return None
    field = changed(slot.field, kind="lines", initial=text or None, max_length=room.text)
    return changed(slot, field=field, reads="lines", item=item)


def _is_whole(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())
