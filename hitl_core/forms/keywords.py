"""The JSON Schema keywords that are ours: exact, bounded, or with the place of the error.

Their messages are final: they read after the name of the value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Any, cast

from jsonschema import ValidationError

from hitl_core.forms.formats import conforms, format_words
from hitl_core.forms.meter import Keyword, Meter, TextTooLong

Errors = Iterator[ValidationError]


def _pattern(validator: Any, pattern: str, text: Any, schema: Any) -> Errors:
    if not isinstance(text, str):
        return
    meter: Meter = validator.format_checker
    try:
        if not meter.search(pattern, text):
            yield ValidationError(f"must match the pattern {pattern}")
    except TextTooLong as error:
        if meter.strict:
            raise
        yield ValidationError(str(error))


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], value: Any, schema: Any
) -> Errors:
    if isinstance(value, dict):
        for pattern, subschema in patterns.items():
            for name, item in cast("dict[str, Any]", value).items():
                if validator.format_checker.search(pattern, name):
                    yield from validator.descend(item, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, extra: Any, value: Any, schema: Any) -> Errors:
    if not isinstance(value, dict):
        return
    meter: Meter = validator.format_checker
    patterns: dict[str, Any] = schema.get("patternProperties", {})
    for name, item in cast("dict[str, Any]", value).items():
        if name in schema.get("properties", {}) or any(meter.search(p, name) for p in patterns):
            continue
        if _surely(validator, extra, item):
            continue
        meter.spend(1)
        if extra is False:
            yield ValidationError("is not allowed here", path=(name,))
        else:
            yield from validator.descend(item, extra, path=name)


def _properties(validator: Any, properties: dict[str, Any], value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for name, subschema in properties.items():
            item = cast(object, value[name]) if name in value else None
            if name not in value or _surely(validator, subschema, item):
                continue
            if subschema is False:  # jsonschema forgets the place of this one
                yield ValidationError("is not allowed here", path=(name,))
            else:
                yield from validator.descend(item, subschema, path=name, schema_path=name)


def _items(theirs: Keyword) -> Keyword:
    """The draft's own, but for the plain case."""

    def items(validator: Any, items: Any, value: Any, schema: Any) -> Errors:
        if not isinstance(value, list) or not isinstance(items, dict) or "prefixItems" in schema:
            yield from theirs(validator, items, value, schema) or ()
            return
        each = cast("dict[str, object]", items)
        for index, item in enumerate(cast("list[Any]", value)):
            if not _surely(validator, each, item):
                yield from validator.descend(item, each, path=index)

    return items


def _surely(validator: Any, subschema: object, item: object) -> bool:
    """Whether the value is valid, found out the fast way: so many values are one step."""
    meter: Meter = validator.format_checker
    meter.spend(meter.size(item) // 32)
    return validator.quick.accepts(subschema, item)


def _required(validator: Any, names: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for name in names:
            if name not in value:
                yield ValidationError("is required", path=(name,))


def _dependent_required(validator: Any, needs: dict[str, Any], value: Any, schema: Any) -> Errors:
    if isinstance(value, dict):
        for given, names in needs.items():
            if given in value:
                validator.format_checker.spend(len(names))
                for name in names:
                    if name not in value:
                        yield ValidationError(f"is required when {given} is given", path=(name,))


def _multiple_of(validator: Any, step: Any, value: Any, schema: Any) -> Errors:
    if validator.is_type(value, "number") and Fraction(str(value)) % Fraction(str(step)):
        yield ValidationError(f"must be a multiple of {step}")


def _unique_items(validator: Any, unique: Any, value: Any, schema: Any) -> Errors:
    if not unique or not isinstance(value, list):
        return
    seen: dict[Hashable, int] = {}
    validator.format_checker.spend(validator.format_checker.size(value) // 4)
    for index, item in enumerate(cast("list[object]", value)):
        first = seen.setdefault(identity(item), index)
        if first != index:
            yield ValidationError(f"is the same as number {first + 1}", path=(index,))


def _format(validator: Any, name: Any, value: Any, schema: Any) -> Errors:
    if isinstance(value, str) and len(value) > 10_000 and format_words(name):
        told = f"is too long ({len(value):,} characters) to be checked"
        if validator.format_checker.strict:
            raise TextTooLong(told)
        yield ValidationError(told)
    elif not conforms(name, value):
        yield ValidationError(f"is not a valid {cast(str, format_words(name)).split(' ', 1)[1]}")


def identity(value: object) -> Hashable:
    """Equal exactly for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return frozenset((k, identity(v)) for k, v in cast("dict[str, object]", value).items())
    if isinstance(value, list):
        return tuple(identity(item) for item in cast("list[object]", value))
    return (isinstance(value, bool), cast(Hashable, value))


OURS: dict[str, Keyword] = {
    "additionalProperties": _additional_properties,
    "dependentRequired": _dependent_required,
    "format": _format,
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "properties": _properties,
    "required": _required,
    "uniqueItems": _unique_items,
}


def keywords_of(validator: Any) -> dict[str, Any]:
    """A draft's keywords, with ours where the draft has them."""
    theirs = cast("dict[str, Any]", validator.VALIDATORS)
    ours = {name: check for name, check in OURS.items() if name in theirs}
    return {**theirs, **ours, "items": _items(theirs["items"])}
