"""A JSON Schema and the current arguments become a form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from hitl_core.forms.form import Field, Form, Kind, Option
from hitl_core.forms.hints import hint, is_number
from hitl_core.forms.jsontext import pretty
from hitl_core.forms.keywords import identity
from hitl_core.forms.pointer import pointer
from hitl_core.forms.schema import check_schema

MAX_FIELDS = 40
_MAX_OPTIONS = 100
_LONG = 80
_EXACT = 2**53
_ABSENT = object()
_SHAPES = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "enum", "const")

Reads = Literal["text", "integer", "number", "option", "json"]


@dataclass(frozen=True)
class Slot:
    """A field, and how its answer becomes a value.

    `name` is the argument it stands for; None for the whole arguments. `values` are the options'.
    """

    name: str | None
    field: Field
    reads: Reads
    values: tuple[Any, ...] = ()
    nullable: bool = False
    may_leave: bool = True  # a cleared field takes its argument away


def make_form(
    schema: Mapping[str, Any] | None, args: Mapping[str, Any], *, max_text: int = 3000
) -> Form:
    """The form for these arguments (plain JSON values).

    One field for each argument: those of the schema in its order, then the others. Arguments that
    can't be shown that way (none, more than 40, a schema of alternatives) are one JSON field with
    the pointer "". Inputs hold at most `max_text` UTF-16 units; a longer value is locked.
    Raises SchemaError for a schema that `check_schema` refuses.
    """
    return Form(tuple(slot.field for slot in slots(schema, args, max_text)))


def slots(
    schema: Mapping[str, Any] | None, args: Mapping[str, Any], max_text: int
) -> tuple[Slot, ...]:
    """The fields with what is needed to read them."""
    if schema is not None:
        check_schema(schema)
    whole: Mapping[str, Any] = schema or {}
    properties: dict[str, Any] = dict(whole.get("properties") or {})
    names = list(dict.fromkeys([*properties, *args]))
    alternatives = not properties and any(key in whole for key in _SHAPES)
    if not names or len(names) > MAX_FIELDS or alternatives:
        return (_whole(dict(args), max_text),)
    required = list(args) if schema is None else schema.get("required", [])
    return tuple(
        _slot(
            name,
            properties.get(name, _inferred(args.get(name))),
            args.get(name, _ABSENT),
            name in required,
            max_text,
        )
        for name in names
    )


def _whole(args: dict[str, Any], max_text: int) -> Slot:
    field = Field("", "json", "Arguments", required=True)
    slot = Slot(None, field, "json", may_leave=False)
    return _locked_if_long(_json(slot, args, max_text), max_text)


def _inferred(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case _:
            return {}


def _slot(name: str, declared: Any, value: Any, required: bool, max_text: int) -> Slot:
    plain = cast("dict[str, Any]", declared) if isinstance(declared, dict) else {}
    schema, nullable = _without_null(plain)
    title = schema.get("title")
    field = Field(
        pointer([name]),
        "json",
        title if isinstance(title, str) and title.strip() else name,
        hint(schema),
        required=required and not nullable and value != "" and schema.get("minLength") != 0,
    )
    slot = _with_input(
        Slot(name, field, "json", nullable=nullable, may_leave=not required),
        schema,
        value,
        max_text,
    )
    if schema.get("readOnly") is True:
        return replace(slot, field=replace(slot.field, locked="This can't be changed."))
    if "const" in schema and value is not _ABSENT and _same(schema["const"], value):
        return replace(slot, field=replace(slot.field, locked="This has only one value."))
    return _locked_if_long(slot, max_text)


def _with_input(slot: Slot, schema: dict[str, Any], value: Any, max_text: int) -> Slot:
    """The slot with the input that the schema asks for, or JSON where that can't show the value."""
    empty = value is _ABSENT or (value is None and slot.nullable)
    choices = _choices(schema)
    if choices:
        return _choice(slot, choices, value)
    match schema.get("type"):
        case "boolean" if empty or isinstance(value, bool):
            return _choice(slot, [("Yes", True), ("No", False)], value, "boolean")
        case "string" if empty or isinstance(value, str):
            return _text(slot, schema, value if isinstance(value, str) else "", max_text)
        case "integer" if empty or _is_whole(value):
            return _number(slot, "integer", schema, None if empty else int(cast(float, value)))
        case "number" if empty or is_number(value):
            return _number(slot, "number", schema, None if empty else value)
        case _:
            return _json(slot, value, max_text)


def _without_null(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The schema without its null, and whether it had one: type [X, "null"], anyOf [X, null]."""
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        others = [kind for kind in cast("list[str]", kinds) if kind != "null"]
        return {**schema, "type": others[0] if len(others) == 1 else others}, True
    for key in ("anyOf", "oneOf"):
        branches = cast("list[Any]", schema.get(key) or [])
        others = [branch for branch in branches if branch != {"type": "null"}]
        if len(branches) == 2 and len(others) == 1 and isinstance(others[0], dict):
            outer = {name: value for name, value in schema.items() if name != key}
            return {**cast("dict[str, Any]", others[0]), **outer}, True
    return schema, False


def _choices(schema: dict[str, Any]) -> list[tuple[str, Any]]:
    """Labels and values, of enum, const, or alternatives that are all constants with titles."""
    if "const" in schema:
        values = [schema["const"]]
    elif "enum" in schema:
        values = cast("list[Any]", schema["enum"])
    else:
        branches = cast("list[Any]", schema.get("oneOf") or schema.get("anyOf") or [])
        if not all(isinstance(b, dict) and "const" in b for b in branches):
            return []
        return [(str(b.get("title") or _label(b["const"])), b["const"]) for b in branches]
    if len(values) > _MAX_OPTIONS:
        return []
    texts = {value for value in values if isinstance(value, str)}
    return [
        (
            _label(v)
            if isinstance(v, str) or _label(v) not in texts
            else f"{_label(v)} (not text)",
            v,
        )
        for v in values
    ]


def _label(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    return json.dumps(value, ensure_ascii=False)


def _choice(slot: Slot, choices: list[tuple[str, Any]], value: Any, kind: Kind = "choice") -> Slot:
    values = tuple(choice for _, choice in choices)
    chosen = (
        str(n) for n, choice in enumerate(values) if value is not _ABSENT and _same(choice, value)
    )
    options = tuple(Option(label) for label, _ in choices)
    field = replace(slot.field, kind=kind, options=options, initial=next(chosen, None))
    return replace(slot, field=field, reads="option", values=values)


def _text(slot: Slot, schema: dict[str, Any], value: str, max_text: int) -> Slot:
    least, most = schema.get("minLength"), schema.get("maxLength", max_text)
    long = len(value) > _LONG or len(value.splitlines()) > 1 or value.endswith("\n")
    long = long or schema.get("maxLength", 0) > 200 or "contentMediaType" in schema
    field = replace(
        slot.field,
        kind="long_text" if long else "text",
        initial=value or None,
        min_length=int(least) if least and len(value) >= least and least <= max_text else None,
        max_length=int(most) if most <= max_text and len(value) <= most else max_text,
    )
    return replace(slot, field=field, reads="text")


def _number(
    slot: Slot,
    kind: Literal["integer", "number"],
    schema: dict[str, Any],
    value: int | float | None,
) -> Slot:
    initial = None if value is None else json.dumps(value)
    plain = value is None or ("e" not in json.dumps(value) and abs(value) <= _EXACT)
    least, most = schema.get("minimum"), schema.get("maximum")
    if kind == "integer" and least is None and is_number(schema.get("exclusiveMinimum")):
        least = math.floor(schema["exclusiveMinimum"]) + 1
    if kind == "integer" and most is None and is_number(schema.get("exclusiveMaximum")):
        most = math.ceil(schema["exclusiveMaximum"]) - 1
    keeps_least = value is None or least is None or value >= least
    keeps_most = value is None or most is None or value <= most
    field = replace(
        slot.field,
        kind=kind if plain else "text",  # number inputs round what is large
        initial=initial,
        minimum=_limit(least) if plain and keeps_least else None,
        maximum=_limit(most) if plain and keeps_most else None,
    )
    return replace(slot, field=field, reads=kind)


def _limit(limit: int | float | None) -> str | None:
    text = None if limit is None else json.dumps(limit)
    return None if text is None or "e" in text else text


def _json(slot: Slot, value: Any, max_text: int) -> Slot:
    text = None if value is _ABSENT else pretty(value)
    if text is not None and width(text) > max_text:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    field = replace(slot.field, kind="json", initial=text, max_length=max_text)
    return replace(slot, field=field, reads="json")


def _locked_if_long(slot: Slot, max_text: int) -> Slot:
    if slot.reads == "option" or width(slot.field.initial or "") <= max_text:
        return slot
    reason = f"This is longer than {max_text:,} characters and can't be changed here."
    return replace(slot, field=replace(slot.field, locked=reason, max_length=None))


def width(text: str) -> int:
    """Its length in UTF-16 units, in which browsers and chat systems count."""
    return len(text) + sum(char > "\uffff" for char in text)


def _is_whole(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())


def _same(a: Any, b: Any) -> bool:
    return identity(a) == identity(b)
