"""Removes texts from a schema that comes from an agent. Pure.

On a card, its titles, descriptions, defaults and option names could look like our own texts, and `writeOnly`
or `format: password` would hide values that people must see. So only the structure of the schema is used. In
a review that hides values only the types are used, because names and allowed values could quote a hidden
value.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast
from urllib.parse import unquote

from hitl_core.forms.choices import list_options
from hitl_core.jsonschema import (
    FORM_STEPS,
    NO_TEXTS_MARK,
    Budget,
    CannotFlatten,
    SchemaFlattener,
    TooMuchWork,
    is_fixed,
    parse_pointer,
)

Path = tuple[str, ...]

#: More options than these are not shown as a choice in a form.
_MAX_OPTIONS = 100
#: The formats that have an input of their own.
_FORMATS = ("date", "date-time", "email", "time", "uri")
_TEXT_KEYS = frozenset(
    {
        "$comment",
        "default",
        "description",
        "enumNames",
        "example",
        "examples",
        "title",
        "writeOnly",
        "x-enumNames",
    }
)
_MAP_KEYS = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
_LIST_KEYS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_SCHEMA_KEYS = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


def strip_texts(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema without texts; it accepts the same values. None if a reference leads outside the known parts
    of the schema, because texts could be there: then the values are shown without a schema.
    """
    seen: set[Path] = set()
    refs: list[object] = []
    bare = cast("dict[str, Any]", _strip_part(dict(schema), (), seen, refs))
    if any(_ref_path(ref) not in seen for ref in refs):
        return None
    return {**bare, NO_TEXTS_MARK: True}


def keep_types(schema: Mapping[str, Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with only the types of these arguments, which are required, and which must not change."""
    flattener = SchemaFlattener(schema, Budget(FORM_STEPS))
    types: dict[str, Any] = {}
    with suppress(TooMuchWork):  # then the values are shown without a schema
        types = _types_of(flattener, schema, args)
    return {**types, NO_TEXTS_MARK: True}


def _types_of(flattener: SchemaFlattener, declared: object, value: object) -> dict[str, Any]:
    try:
        flat, nullable = flattener.flatten(declared)
    except CannotFlatten:
        return {}
    kind, types = flat.get("type"), dict[str, Any]()
    if is_fixed(flat):
        types["readOnly"] = True
    if isinstance(kind, str):
        types["type"] = [kind, "null"] if nullable else kind
        if (format := flat.get("format")) in _FORMATS:
            types["format"] = format
    if isinstance(value, dict):
        held, properties = cast("dict[str, Any]", value), flat.get("properties", {})
        types["properties"] = {
            name: _types_of(flattener, properties[name], held[name])
            for name in properties
            if name in held
        }
        types["required"] = [name for name in flat.get("required", ()) if name in held]
    elif isinstance(flat.get("items"), dict):
        types["items"] = _types_of(flattener, flat["items"], None)
    return types


def number_options(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an agent's question, with numbers in place of the names of fields and options."""
    with suppress(TooMuchWork):
        return _number_part(SchemaFlattener(schema, Budget(FORM_STEPS)), schema)
    return {}


def _number_part(flattener: SchemaFlattener, declared: object) -> dict[str, Any]:
    try:
        flat, _ = flattener.flatten(declared)
    except CannotFlatten:
        return {}
    values = [value for _, value in list_options(flat)]
    if 0 < len(values) <= _MAX_OPTIONS:
        names = [f"Option {number}" for number in range(1, len(values) + 1)]
        return {"enum": values, "x-enumNames": names}
    kind = flat.get("type")
    if not isinstance(kind, str):
        return {}
    if kind == "array":
        return {"type": kind, "items": _number_part(flattener, flat.get("items", {}))}
    if kind != "object":
        return {"type": kind}
    properties = cast("dict[str, Any]", flat.get("properties", {}))
    return {
        "type": kind,
        "properties": {
            name: {**_number_part(flattener, part), "title": f"Field {number}"}
            for number, (name, part) in enumerate(properties.items(), start=1)
        },
        "required": [name for name in flat.get("required", ()) if name in properties],
    }


def _strip_part(part: object, path: Path, seen: set[Path], refs: list[object]) -> object:
    if not isinstance(part, dict):
        return part
    seen.add(path)
    result: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", part).items():
        here = (*path, key)
        if key in ("$ref", "$dynamicRef", "$recursiveRef"):
            refs.append(value)
        if key in _TEXT_KEYS or (key == "format" and value == "password"):
            continue
        if key in _MAP_KEYS and isinstance(value, dict):
            named = cast("dict[str, Any]", value)
            result[key] = {
                n: _strip_part(each, (*here, n), seen, refs) for n, each in named.items()
            }
        elif key in _LIST_KEYS and isinstance(value, list):
            each = enumerate(cast("list[Any]", value))
            result[key] = [_strip_part(one, (*here, str(n)), seen, refs) for n, one in each]
        elif key in _SCHEMA_KEYS:
            result[key] = _strip_part(value, here, seen, refs)
        else:
            result[key] = value
    return result


def _ref_path(ref: object) -> Path | None:
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        return None
    return tuple(parse_pointer(unquote(ref[1:])))
