"""Chooses the input for one value, and what it shows: texts, numbers, lists, JSON. Options: `choices`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal

from hitl_core.forms.choices import YES_NO, choice_slot, choices_slot, list_options, name_values
from hitl_core.forms.field import ABSENT, Found, InputLimits, Slot
from hitl_core.forms.text_values import (
    format_json,
    format_lines,
    format_zone,
    item_kind,
    picker_date,
    picker_datetime,
    picker_time,
)
from hitl_core.jsonschema import CannotFlatten, Schema, SchemaFlattener, is_valid_format
from hitl_core.model import is_number

_LONG = 80
_EXACT = 2**53


def choose_inputs(
    values: Sequence[Found], flattener: SchemaFlattener, limits: InputLimits
) -> list[Found]:
    """The same values, with inputs. Raises TooMuchWork."""
    chosen = list[Found]()
    for found in values:
        slot = found.slot
        if found.needs == "input":
            slot = _choose_input(slot, found.schema, flattener, limits)
        elif found.needs == "json":
            slot = json_slot(slot, limits.max_text)
        chosen.append(found._replace(slot=slot))
    return chosen


def _choose_input(
    slot: Slot, schema: Schema, flattener: SchemaFlattener, limits: InputLimits
) -> Slot:
    """The slot with the input that the schema needs, or with JSON if that input can't show the value."""
    value, empty, max_text = slot.value, slot.is_empty, limits.max_text
    options = list_options(schema)
    if options and len(options) <= limits.max_options:
        return choice_slot(slot, name_values(options) if limits.name_values else options)
    if options and all(isinstance(option, str) for _, option in options):
        schema = {**schema, "type": "string"}
    match schema.get("type"):
        case "boolean" if empty or isinstance(value, bool):
            return choice_slot(slot, YES_NO, "boolean")
        case "string" if empty or isinstance(value, str):
            return _string_slot(slot, schema, limits)
        case "integer" if empty or _is_integer(value):
            return _number_slot(slot, "integer", schema)
        case "number" if empty or is_number(value):
            return _number_slot(slot, "number", schema)
        case "array" if empty or isinstance(value, list):
            return _array_slot(slot, schema, flattener, limits) or json_slot(slot, max_text)
        case _:
            return json_slot(slot, max_text)


def json_slot(slot: Slot, max_text: int, masked_value: Any = None) -> Slot:
    """A JSON input in place of any other. `masked_value` is shown instead of a value with hidden parts."""
    value = slot.value if masked_value is None else masked_value
    text = None if slot.value is ABSENT else format_json(value, max_text)
    field = slot.field._replace(kind="json", initial=text, options=(), max_length=max_text)
    return slot._replace(field=field, reads="json", values=())


def _string_slot(slot: Slot, schema: Schema, limits: InputLimits) -> Slot:
    text = slot.value if isinstance(slot.value, str) else None
    match schema.get("format"):
        case "date" if text is None or (picker_date(text) and not slot.field.locked):
            field = slot.field._replace(kind="date", initial=text)
            return slot._replace(field=field, reads="date")
        case "time" if text is None or (picker_time(text) and not slot.field.locked):
            picker_text = None if text is None else picker_time(text)
            field = slot.field._replace(kind="time", initial=picker_text, hint=format_zone(text))
            return slot._replace(field=field, reads="time")
        case "date-time" if text is None or (picker_datetime(text) and not slot.field.locked):
            picker_text = None if text is None else picker_datetime(text)
            field = slot.field._replace(kind="datetime", initial=picker_text)
            return slot._replace(field=field, reads="datetime")
        case "email" | "uri" as kind if not text or is_valid_format(kind, text):
            slot = _text_slot(slot, schema, text or "", limits)
            return slot._replace(field=slot.field._replace(kind=kind))
        case _:
            return _text_slot(slot, schema, text or "", limits)


def _text_slot(slot: Slot, schema: Schema, value: str, limits: InputLimits) -> Slot:
    max_text = limits.max_text
    least, most = schema.get("minLength"), schema.get("maxLength", max_text)
    long = len(value) > _LONG or len(value.splitlines()) > 1 or value.endswith(("\n", "\r"))
    long = long or schema.get("maxLength", 0) > 200 or "contentMediaType" in schema
    long = long or slot.field.pointer in limits.long_texts
    field = slot.field._replace(
        kind="long_text" if long else "text",
        initial=value or None,
        required=slot.field.required and slot.value != "" and schema.get("minLength") != 0,
        min_length=int(least) if least and len(value) >= least and least <= max_text else None,
        max_length=int(most) if most <= max_text and len(value) <= most else max_text,
    )
    return slot._replace(field=field, reads="text")


def _number_slot(slot: Slot, kind: Literal["integer", "number"], schema: Schema) -> Slot:
    value: int | float | None = slot.value if is_number(slot.value) else None
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
    field = slot.field._replace(
        kind=kind if plain else "text",  # number inputs round large numbers
        initial=initial,
        minimum=_format_limit(least) if plain and keeps_least else None,
        maximum=_format_limit(most) if plain and keeps_most else None,
    )
    return slot._replace(field=field, reads=kind)


def _format_limit(limit: int | float | None) -> str | None:
    text = None if limit is None else json.dumps(limit)
    return None if text is None or "e" in text else text


def _array_slot(
    slot: Slot, schema: Schema, flattener: SchemaFlattener, limits: InputLimits
) -> Slot | None:
    try:
        items, nullable = flattener.flatten(schema.get("items", {}))
    except CannotFlatten:
        return None
    if nullable or "prefixItems" in schema:
        return None
    may_be_empty = slot.value == [] or not schema.get("minItems")
    slot = slot._replace(
        field=slot.field._replace(required=slot.field.required and not may_be_empty)
    )
    options = list_options(items)
    if options and len(options) <= limits.max_options:
        options = name_values(options) if limits.name_values else options
        return choices_slot(slot, options, schema)
    item = item_kind(items)
    text = format_lines([] if slot.is_empty else slot.value, item) if item else None
    if item is None or text is None:
        return None
    field = slot.field._replace(kind="lines", initial=text or None, max_length=limits.max_text)
    return slot._replace(field=field, reads="lines", item=item)


def _is_integer(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())
