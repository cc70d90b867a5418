"""Finds the part of a schema for one value, by its name or its branch. Without a schema, it uses the type."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any, cast

from hitl_core.forms.branches import Branch
from hitl_core.forms.field import ABSENT, Slot
from hitl_core.forms.text_values import are_numbers
from hitl_core.jsonschema import (
    Budget,
    CannotFlatten,
    PatternError,
    Schema,
    SchemaFlattener,
    equality_key,
    search,
    to_pointer,
)
from hitl_core.model import is_number

INFERRED: Any = object()  # in place of a schema: use the type of the value
_UNDECLARED = "Not in the tool's schema."
#: A longer text has lines of its own.
_ONE_LINE = 160
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TYPE_TESTS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: is_number(value) and value == int(value),
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}


def member_schema(schema: Schema, name: str, budget: Budget) -> Any:
    """The schema of this property: of `properties`, else of all patterns that match its name, else of
    `additionalProperties`. False if the property is not allowed, INFERRED if no schema is about it.

    Outside `properties` titles are removed: one title would name several properties. Raises TooMuchWork.
    """
    properties = cast(Schema, schema.get("properties", {}))
    if name in properties:
        return properties[name]
    patterns = cast(Schema, schema.get("patternProperties", {}))
    parts = [
        _drop_title(part) for each, part in patterns.items() if _matches_name(each, name, budget)
    ]
    if parts:
        return parts[0] if len(parts) == 1 else {"allOf": parts}
    others: object = schema.get("additionalProperties")
    return others if others is False else _drop_title(others)


def infer_schema(value: Any, long_texts: Collection[str] = ()) -> Schema:
    """A schema for the type of the value, one level deep. `long_texts`: pointers to texts that come last in
    an object.
    """
    match value:
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case dict() if value:
            names = _short_first(cast("dict[str, Any]", value), long_texts)
            return {
                "type": "object",
                "properties": dict.fromkeys(names, INFERRED),
                "required": names,
            }
        case list() if value and all(isinstance(item, str) for item in cast("list[Any]", value)):
            return {"type": "array", "items": {"type": "string"}}
        case list() if value and are_numbers(cast("list[Any]", value)):
            return {"type": "array", "items": {"type": "number"}}
        case _:
            return {}


def infer_undeclared(value: Any, *, is_known: bool = True) -> object:
    """A schema for the type of the value, to use for INFERRED. If `is_known` is False, its description says
    that the tool's schema doesn't have the value.
    """
    inferred = infer_schema(value)
    return inferred if is_known else {**inferred, "description": _UNDECLARED}


def _short_first(values: dict[str, Any], long_texts: Collection[str]) -> list[str]:
    """The names in the order of a card: values on one line come before longer texts."""

    def is_long(name: str) -> bool:
        text = values[name]
        if not isinstance(text, str):
            return False
        return len(text) > _ONE_LINE or "\n" in text or to_pointer((name,)) in long_texts

    return sorted(values, key=is_long)


def key_labels(names: Iterable[str]) -> list[str]:
    """The labels of keys. A key is quoted unless it is a plain name: an agent may have chosen it, and it
    could look like our text.
    """
    return [name if _PLAIN_NAME.fullmatch(name) else f'"{name}"' for name in names]


def keep_annotations(declared: object) -> Schema:
    """The texts and the `readOnly` or hiding keywords of a schema that can't be flattened."""
    if not isinstance(declared, dict):
        return {}
    keys = ("title", "description", "default", "readOnly", "writeOnly", "format")
    return {key: value for key, value in cast(Schema, declared).items() if key in keys}


def match_branch(branches: tuple[Branch, ...], slot: Slot, budget: Budget) -> int | None:
    """The index of the branch that the value has; None if it has none of them. Raises TooMuchWork."""
    value = slot.value
    if slot.is_empty:
        return None
    held = cast(Schema, value) if isinstance(value, dict) else {}
    for at, branch in enumerate(branches):
        if branch.discriminator in held and _are_equal(
            held[branch.discriminator], branch.constants[branch.discriminator]
        ):
            return at
    if any(branch.discriminator in held for branch in branches):
        return None
    matching = [at for at, branch in enumerate(branches) if _matches_branch(branch, value, budget)]
    return max(matching, key=lambda at: len(branches[at].properties.keys() & held), default=None)


def switch_branch(flattener: SchemaFlattener, old: Branch | None, new: Branch, value: Any) -> Any:
    """The value after a switch to another branch. Values that fit there are kept; values that only the old
    branch has are removed.
    """
    if "const" in new.schema:
        return new.schema["const"]
    if new.schema.get("type", "object") != "object":
        return ABSENT
    kept = dict(new.constants)
    for name, item in cast(Schema, value).items() if isinstance(value, dict) else ():
        before = old.properties.get(name) if old else None
        if name in new.properties:
            declared = new.properties[name]
            stays = declared == before or _fits(flattener, declared, item)
        else:
            declared = member_schema(new.schema, name, flattener.budget)
            stays = before is None and declared is not False
        if stays and name not in kept:
            kept[name] = item
    return kept


def _matches_name(pattern: str, name: str, budget: Budget) -> bool:
    with suppress(PatternError):  # then the check of the arguments reports it
        return search(pattern, name, budget)
    return False


def _drop_title(part: object) -> object:
    if not isinstance(part, dict):
        return part if part is False else INFERRED
    return {key: value for key, value in cast(Schema, part).items() if key != "title"}


def _matches_branch(branch: Branch, value: Any, budget: Budget) -> bool:
    if not _matches_type(branch.schema, value):
        return False
    if not isinstance(value, dict):
        return True
    held = cast(Schema, value)
    return (
        all(name in held for name in cast("list[str]", branch.schema.get("required", [])))
        and all(
            _are_equal(held[name], only) for name, only in branch.constants.items() if name in held
        )
        and all(
            member_schema(branch.schema, name, budget) is not False
            for name in held.keys() - branch.properties.keys()
        )
    )


def _fits(flattener: SchemaFlattener, declared: object, value: Any) -> bool:
    try:
        schema, nullable = flattener.flatten(declared)
    except CannotFlatten:
        return False
    return (value is None and nullable) or _matches_type(schema, value)


def _matches_type(schema: Schema, value: Any) -> bool:
    """Whether the value has this type and is one of the allowed values. Other limits are not checked."""
    kind = schema.get("type", "object" if "properties" in schema else None)
    kinds = cast("list[str]", kind if isinstance(kind, list) else [kind] if kind else [])
    if kinds and not any(_TYPE_TESTS[name](value) for name in kinds if name in _TYPE_TESTS):
        return False
    allowed = (
        [schema["const"]] if "const" in schema else cast("list[Any]", schema.get("enum") or [])
    )
    return not allowed or any(_are_equal(value, other) for other in allowed)


def _are_equal(a: Any, b: Any) -> bool:
    return equality_key(a) == equality_key(b)
