"""A schema without its words, to draw an agent's own by: its shape counts, and nothing that it says.

Titles, descriptions, defaults and names of choices could pass for ours on a card, and `writeOnly` or the
format of a password would hide what is asked for. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

from hitl_core.jsonschema.hidden import NO_TEXTS_MARK
from hitl_core.jsonschema.pointer import parse_pointer

Path = tuple[str, ...]

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
    """What it checks is checked the same. None where a reference leads to something that is no part of a
    schema, where words could hide: then values are drawn as they are.
    """
    seen: set[Path] = set()
    refs: list[object] = []
    bare = cast("dict[str, Any]", _strip_part(dict(schema), (), seen, refs))
    if any(_ref_path(ref) not in seen for ref in refs):
        return None
    return {**bare, NO_TEXTS_MARK: True}


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
