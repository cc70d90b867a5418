"""A fast yes: whether a value is valid for certain, where that is plain to see.

jsonschema takes some ten microseconds for each value; arguments of 256 KiB have tens of thousands. So what
most schemas say of most values is looked at here, in one go. Whatever is not a yes goes the slow way, which
also finds the words for what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any, cast

from hitl_core.forms.formats import format_words

Accepts = Callable[[Any], bool]
Maker = Callable[[Any, dict[str, Any]], Accepts | None]
_TOLD = {
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
}
_TYPES: dict[str, Accepts] = {
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) is int or type(value) is float,
    "boolean": lambda value: type(value) is bool,
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "null": lambda value: value is None,
}


class Quick:
    """For the parts of one schema, which outlives it."""

    def __init__(self) -> None:
        self._known: dict[int, Accepts | None] = {}

    def accepts(self, schema: object, value: object) -> bool:
        """False: it is not known."""
        if id(schema) not in self._known:
            self._known[id(schema)] = _acceptor(schema)
        check = self._known[id(schema)]
        return check is not None and check(value)


def _acceptor(declared: object) -> Accepts | None:
    """None for a schema that says more than is understood here."""
    if declared is True:
        return lambda value: True
    if not isinstance(declared, dict):
        return None
    schema, checks = cast("dict[str, Any]", declared), list[Accepts]()
    for key, said in schema.items():
        if key in _TOLD or (key == "format" and format_words(said) is None):
            continue
        if key in ("additionalProperties", "required"):
            continue  # with the properties, or not at all
        check = _MAKERS[key](said, schema) if key in _MAKERS else None
        if check is None:
            return None
        checks.append(check)
    if "properties" not in schema and {"additionalProperties", "required"} & schema.keys():
        return None
    if len(checks) == 1:
        return checks[0]
    return lambda value: all(check(value) for check in checks)


def _type(said: Any, _: dict[str, Any]) -> Accepts | None:
    if isinstance(said, str):
        return _TYPES.get(said)
    each = [_TYPES[name] for name in said if isinstance(name, str) and name in _TYPES]
    return lambda value: any(check(value) for check in each)


def _enum(said: Any, _: dict[str, Any]) -> Accepts | None:
    """Texts only: they are equal to nothing else."""
    texts = frozenset(item for item in said if isinstance(item, str))
    return lambda value: type(value) is str and value in texts


def _limit(holds: Callable[[Any, Any], bool], *, size: bool) -> Maker:
    def made(said: Any, _: dict[str, Any]) -> Accepts | None:
        if isinstance(said, bool):  # an exclusiveMinimum of draft 4
            return None
        if size:
            return lambda value: type(value) in (str, list) and holds(len(cast(Sized, value)), said)
        return lambda value: type(value) in (int, float) and holds(value, said)

    return made


def _properties(said: dict[str, Any], schema: dict[str, Any]) -> Accepts | None:
    extra: Any = schema.get("additionalProperties", True)
    required: Any = schema.get("required", [])
    each = {name: _acceptor(part) for name, part in said.items()}
    if not (isinstance(extra, bool) and isinstance(required, list)) or None in each.values():
        return None
    named, must = cast("dict[str, Accepts]", each), cast("list[str]", required)

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return False
        held = cast("dict[str, Any]", value)
        for name, item in held.items():
            accepts = named.get(name)
            if accepts is None:
                if not extra:
                    return False
            elif not accepts(item):
                return False
        return all(name in held for name in must)

    return check


def _items(said: Any, _: dict[str, Any]) -> Accepts | None:
    each = _acceptor(said)
    if each is None:
        return None
    return lambda value: type(value) is list and all(map(each, cast("list[Any]", value)))


_MAKERS: dict[str, Maker] = {
    "type": _type,
    "enum": _enum,
    "properties": _properties,
    "items": _items,
    "minimum": _limit(lambda value, limit: value >= limit, size=False),
    "maximum": _limit(lambda value, limit: value <= limit, size=False),
    "exclusiveMinimum": _limit(lambda value, limit: value > limit, size=False),
    "exclusiveMaximum": _limit(lambda value, limit: value < limit, size=False),
    "minLength": _limit(lambda length, limit: length >= limit, size=True),
    "maxLength": _limit(lambda length, limit: length <= limit, size=True),
    "minItems": _limit(lambda length, limit: length >= limit, size=True),
    "maxItems": _limit(lambda length, limit: length <= limit, size=True),
}
