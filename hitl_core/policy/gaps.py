"""Finds calls that avoid a rule by accident. Pure.

A `when` does not match if an argument is missing or has another type. Then another rule may allow the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from hitl_core.model import ToolCall
from hitl_core.policy.rule import Rule, SchemaWhen

if TYPE_CHECKING:
    from hitl_core.policy.policy import Policy

_INNER = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_TYPE_SAMPLES: tuple[Any, ...] = ("", "0", 0, 0.5, True, None, [], {})
_EXAMPLES: dict[str, Any] = {
    "string": "x",
    "number": 1,
    "integer": 1,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}
_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (str, "a text"),
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (list, "a list"),
    (dict, "an object"),
)
_MAX_NAMES = 20
Json = dict[str, Any]


def find_gaps(policy: Policy, rule: Rule) -> list[str]:
    """One sentence for each argument that, if it is missing or of another type, makes the call allowed."""
    when, tool = rule.when, re.sub(r"[*?]", "x", rule.name or "x")
    if not isinstance(when, SchemaWhen) or rule.kind == "allow":
        return []
    argument_schemas = _argument_schemas(when.schema)
    # Arguments that satisfy the schema, if it is simple.
    base = {name: _example_value(schemas) for name, schemas in argument_schemas.items() if schemas}

    def is_allowed(args: dict[str, Any]) -> bool:
        ruling = policy.judge(ToolCall("check", tool, args))
        return ruling.verdict.kind == "allow"

    gaps: list[str] = []
    for name in list(argument_schemas)[:_MAX_NAMES]:
        without = {key: value for key, value in base.items() if key != name}
        if is_allowed(without):
            gaps.append(f"A call without `{name}` is allowed.")
        others = _other_values(base[name]) if name in base else ()
        if allowed := [_type_name(v) for v in others if is_allowed({**base, name: v})]:
            words = ", ".join(dict.fromkeys(allowed))
            gaps.append(f"A call whose `{name}` is of another type ({words}) is allowed.")
    return gaps


def _argument_schemas(schema: object) -> dict[str, list[Json]]:
    """The arguments in the schema, each with all its schemas."""
    schemas_by_name: dict[str, list[Json]] = {}
    for part in _schema_parts(schema):
        for name, argument_schema in cast(Json, part.get("properties", {})).items():
            inner = schemas_by_name.setdefault(name, [])
            if isinstance(argument_schema, dict):
                inner.append(cast(Json, argument_schema))
        for name in cast("list[str]", part.get("required", [])):
            schemas_by_name.setdefault(name, [])
    return schemas_by_name


def _schema_parts(schema: object) -> Iterator[dict[str, Any]]:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(cast("list[object]", part))
        elif isinstance(part, dict):
            held = cast("dict[str, Any]", part)
            yield held
            waiting.extend(held[key] for key in _INNER if key in held)


def _example_value(schemas: list[Json]) -> Any:
    every = {key: value for part in schemas for key, value in part.items()}
    if "const" in every:
        return every["const"]
    if every.get("enum"):
        return every["enum"][0]
    for key, step in (
        ("minimum", 0),
        ("exclusiveMinimum", 1),
        ("maximum", 0),
        ("exclusiveMaximum", -1),
    ):
        if key in every:
            return every[key] + step
    kinds = every.get("type", "string")
    return _EXAMPLES[kinds if isinstance(kinds, str) else kinds[0]]


def _other_values(value: Any) -> Iterator[Any]:
    """A value of each type other than the type of this one."""
    number = (int, float)
    for other in _TYPE_SAMPLES:
        same = type(other) is type(value) or (type(other) in number and type(value) in number)
        if not same:
            yield other


def _type_name(value: Any) -> str:
    return next((words for kind, words in _TYPE_NAMES if isinstance(value, kind)), "null")
