"""The policy's JSON Schemas: checks them, compiles them to predicates, and combines two into one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from hitl_core.jsonschema import (
    CONTEXT_STEPS,
    SCHEMA_STEPS,
    VALUE_STEPS,
    Budget,
    CheckState,
    ProtectedPaths,
    SchemaError,
    check_schema,
    compile_schema,
    wrap_schema,
)
from hitl_core.model import JsonObject

Schema = dict[str, Any]

_REFS = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})

#: The keywords with schemas by names, and those with values in place of schemas.
_NAMED = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_VALUES = frozenset({"const", "enum", "default", "examples"})
#: A reference by its way from the top, but not into the definitions.
_ELSEWHERE = re.compile(r"#/(?!\$defs/|definitions/)")

#: A reference to nothing, so that every check refuses a schema that has it.
_DEAD_REF = "#/a reference of one of two schemas"


def find_problem(
    schema: dict[str, Any], *, strict: bool = False, budget: Budget | None = None
) -> str | None:
    """The problem of a schema in one sentence, or None. `strict`, `budget`: see `check_schema`."""
    try:
        check_schema(schema, strict=strict, budget=budget)
    except SchemaError as error:
        text = str(error)
        return f"{text[:1].upper()}{text[1:]}."
    return None


def find_answer_problem(schema: dict[str, Any]) -> str | None:
    """Why people could not give an answer by this schema; None if they can. The answer is checked inside
    other values, so only definitions are where a `$ref` leads.
    """
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += cast("list[Any]", part)
        if not isinstance(part, dict):
            continue
        keywords = cast("dict[str, Any]", part)
        for keyword, value in keywords.items():
            if keyword in _NAMED and isinstance(value, dict):
                waiting += cast("dict[str, Any]", value).values()  # the names are no keywords
            elif keyword not in _VALUES:
                waiting.append(value)
        for keyword in _REFS & keywords.keys():
            ref = keywords[keyword]
            if ref == "#" or _ELSEWHERE.match(str(ref)):
                return f"In an answer's schema a `{keyword}` must begin with `#/$defs/`, not {ref!r:.80}."
        for key, value in (("writeOnly", True), ("readOnly", True), ("format", "password")):
            if keywords.get(key) == value:
                return f"People write the answer, so no part of it can be `{key}: {str(value).lower()}`."
    return find_problem(wrap_schema(schema, "answer"))


def hides_parts(schema: Schema | None, redact: tuple[str, ...] = ()) -> bool:
    """Whether the schema or `redact` hides a value, at least of some arguments."""
    return bool(redact) or (schema is not None and ProtectedPaths(schema, {}, ()).has_hidden_parts)


def make_budget() -> Budget:
    """The budget for all schemas of one run's context."""
    return Budget(SCHEMA_STEPS)


def make_predicate(schema: dict[str, Any]) -> Callable[[JsonObject, dict[str, Any]], bool]:
    """A function that tests whether arguments satisfy the schema, which is compiled once.

    Its parameter `shared` holds the budget. All predicates of one call share one; if `shared` has the key
    `outside`, all calls of a turn share one. It raises TooMuchWork if the budget is not enough.
    """
    check = compile_schema(schema).check

    def is_met(args: JsonObject, shared: dict[str, Any]) -> bool:
        if "run" not in shared:
            steps = CONTEXT_STEPS if "outside" in shared else VALUE_STEPS
            shared["run"] = CheckState(steps, strict=True)
        state: CheckState = shared["run"]
        state.depth, state.seen = 0, None  # an earlier check may have stopped in the middle
        return not check(args, state)

    return is_met


def combine_schemas(one: Schema | None, other: Schema | None) -> Schema | None:
    """A schema that requires both. If one of them has a reference, the result can't be checked, because the
    reference would lead to another target.
    """
    if one is None or other is None or one == other:
        return one or other
    both: Schema = {"type": "object", "allOf": [one, other]}
    return {**both, "$ref": _DEAD_REF} if has_refs(both) else both


def has_refs(schema: Schema) -> bool:
    waiting: list[object] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            held = cast(Schema, part)
            if not _REFS.isdisjoint(held):
                return True
            waiting.extend(held.values())
        elif isinstance(part, list):
            waiting.extend(cast("list[object]", part))
    return False
