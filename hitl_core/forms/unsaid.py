"""A schema without its words, to draw an agent's own by: its shape counts, and nothing that it says.

Titles, descriptions, defaults and names of choices could pass for ours on a card, and `writeOnly` or the
format of a password would hide what is asked for. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

from hitl_core.forms.pointer import parts
from hitl_core.forms.secrets import MARK

Way = tuple[str, ...]

_WORDS = frozenset(
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
_MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_LISTS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_PARTS = frozenset(
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


def unsaid(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """What it checks is checked the same. None where a reference leads to something that is no part of a
    schema, where words could hide: then values are drawn as they are.
    """
    seen: set[Way] = set()
    refs: list[object] = []
    bare = cast("dict[str, Any]", _bare(dict(schema), (), seen, refs))
    if any(_way(ref) not in seen for ref in refs):
        return None
    return {**bare, MARK: True}


def _bare(part: object, way: Way, seen: set[Way], refs: list[object]) -> object:
    if not isinstance(part, dict):
        return part
    seen.add(way)
    kept: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", part).items():
        here = (*way, key)
        if key in ("$ref", "$dynamicRef", "$recursiveRef"):
            refs.append(value)
        if key in _WORDS or (key == "format" and value == "password"):
            continue
        if key in _MAPS and isinstance(value, dict):
            named = cast("dict[str, Any]", value)
            kept[key] = {n: _bare(each, (*here, n), seen, refs) for n, each in named.items()}
        elif key in _LISTS and isinstance(value, list):
            each = enumerate(cast("list[Any]", value))
            kept[key] = [_bare(one, (*here, str(n)), seen, refs) for n, one in each]
        elif key in _PARTS:
            kept[key] = _bare(value, here, seen, refs)
        else:
            kept[key] = value
    return kept


def _way(ref: object) -> Way | None:
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        return None
    return tuple(parts(unquote(ref[1:])))
