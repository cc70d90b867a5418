"""Chooses the input for one value, and what it shows: options, texts, numbers, lists, JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal, cast

from hitl_core.forms.field import ABSENT, Found, InputLimits, Kind, Option, Slot
from hitl_core.forms.text_values import (
    format_json,
    format_lines,
    format_zone,
    is_number,
    item_kind,
    picker_date,
    picker_datetime,
    picker_time,
)
from hitl_core.jsonschema import (
    CannotFlatten,
    Schema,
    SchemaFlattener,
    equality_key,
    find_equal,
    is_valid_format,
)

NOT_SET = "Not set"
YES_NO: list[tuple[str, Any]] = [("Yes", True), ("No", False)]
_MAX_LABEL = 300
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
        return choice_slot(slot, _name_values(options) if limits.name_values else options)
    if options and all(isinstance(option, str) for _, option in options):
        schema = {**schema, "type": "string"}
    match schema.get("type"):
        case "boolean" if empty or isinstance(value, bool):
            return choice_slot(slot, YES_NO, "boolean")
        case "string" if empty or isinstance(value, str):
            return _string_slot(slot, schema, max_text)
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


def _string_slot(slot: Slot, schema: Schema, max_text: int) -> Slot:
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
            slot = _text_slot(slot, schema, text or "", max_text)
            return slot._replace(field=slot.field._replace(kind=kind))
        case _:
            return _text_slot(slot, schema, text or "", max_text)


def _text_slot(slot: Slot, schema: Schema, value: str, max_text: int) -> Slot:
    least, most = schema.get("minLength"), schema.get("maxLength", max_text)
    long = len(value) > _LONG or len(value.splitlines()) > 1 or value.endswith(("\n", "\r"))
    long = long or schema.get("maxLength", 0) > 200 or "contentMediaType" in schema
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
        options = _name_values(options) if limits.name_values else options
        return choices_slot(slot, options, schema)
    item = item_kind(items)
    text = format_lines([] if slot.is_empty else slot.value, item) if item else None
    if item is None or text is None:
        return None
    field = slot.field._replace(kind="lines", initial=text or None, max_length=limits.max_text)
    return slot._replace(field=field, reads="lines", item=item)


def _is_integer(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())


def list_options(schema: Schema) -> list[tuple[str, Any]]:
    """The labels and values of `const`, `enum`, or of `oneOf`/`anyOf` with only constants; [] if there are
    none.
    """
    if "const" in schema:
        return [(_label(schema["const"]), schema["const"])]
    if "enum" in schema:
        return _enum_options(schema)
    branches = cast("list[Any]", schema.get("oneOf") or schema.get("anyOf") or [])
    if not all(isinstance(branch, dict) and "const" in branch for branch in branches):
        return []
    return [(str(b.get("title") or _label(b["const"])), b["const"]) for b in branches]


def _name_values(options: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    written = ((label, _label(value), value) for label, value in options)
    return [(name if name == raw else f"{name} → {raw}", value) for name, raw, value in written]


def _enum_options(schema: Schema) -> list[tuple[str, Any]]:
    values = cast("list[Any]", schema["enum"])
    names: Any = schema.get("x-enumNames", schema.get("enumNames"))
    if isinstance(names, list) and len(cast("list[Any]", names)) == len(values):
        return list(zip(map(str, cast("list[Any]", names)), values, strict=True))
    texts = {value for value in values if isinstance(value, str)}
    labels = ((v, _label(v)) for v in values)
    return [
        (f"{label} (not text)" if not isinstance(v, str) and label in texts else label, v)
        for v, label in labels
    ]


def _label(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value[:_MAX_LABEL]
    return json.dumps(value, ensure_ascii=False)[:_MAX_LABEL]


def choice_slot(slot: Slot, choices: list[tuple[str, Any]], kind: Kind = "choice") -> Slot:
    """A field with one choice, or "Not set" if the value may be absent. If the current value is not one of
    the options, it is added as one.
    """
    labels, values = [label for label, _ in choices], [value for _, value in choices]
    at = None if slot.value is ABSENT else find_equal(values, slot.value)
    if at is None and not slot.is_empty:
        at = len(values)
        labels.append(f"{_label(slot.value)} (now, not allowed)")
        values.append(slot.value)
    if slot.on_clear in ("leave", "null"):
        at = len(values) if at is None else at
        labels.append(NOT_SET)
        values.append(ABSENT)
    initial = None if at is None else str(at)
    options = tuple(Option(label) for label in labels)
    field = slot.field._replace(kind=kind, options=options, initial=initial)
    return slot._replace(field=field, reads="option", values=tuple(values))


def choices_slot(slot: Slot, options: list[tuple[str, Any]], schema: Schema) -> Slot | None:
    """A field with several choices; None if the value is not a list of different options."""
    values = [value for _, value in options]
    index_of = {equality_key(value): at for at, value in reversed(list(enumerate(values)))}
    held = cast("list[Any]", [] if slot.is_empty else slot.value)
    chosen = [index_of.get(equality_key(item)) for item in held[: len(values) + 1]]
    if None in chosen or len(set(chosen)) < len(chosen):
        return None
    least, most = schema.get("minItems"), schema.get("maxItems")
    field = slot.field._replace(
        kind="choices",
        options=tuple(Option(label) for label, _ in options),
        initial=",".join(map(str, chosen)) or None,
        min_items=int(least) if least and len(chosen) >= least else None,
        max_items=int(most) if most and len(chosen) <= most else None,
    )
    return slot._replace(field=field, reads="options", values=tuple(values))
