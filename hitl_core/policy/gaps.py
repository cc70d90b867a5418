"""Calls that slip past a `when`: an argument that it tests is missing or of another type, so the
search goes on, and something else allows the call. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from hitl_core.model import ToolCall
from hitl_core.policy.rule import Rule, SchemaWhen

if TYPE_CHECKING:
    from hitl_core.policy.policy import Policy

_INNER = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_EACH_TYPE: tuple[Any, ...] = ("", "0", 0, 0.5, True, None, [], {})
_EXAMPLES: dict[str, Any] = {
    "string": "x",
    "number": 1,
    "integer": 1,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}
_WORDS: tuple[tuple[type, str], ...] = (
    (str, "a text"),
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (list, "a list"),
    (dict, "an object"),
)
_MAX_NAMES = 20
Json = dict[str, Any]


def gaps_of(policy: Policy, rule: Rule) -> list[str]:
    """One sentence for each argument whose absence, or whose other type, gets a call of this rule allowed."""
    when, tool = rule.when, re.sub(r"[*?]", "x", rule.name or "x")
    if not isinstance(when, SchemaWhen) or rule.kind == "allow":
        return []
    tested = _tested(when.schema)
    base = _example(when.schema, tested)

    def slips(args: dict[str, Any]) -> bool:
        ruling = policy.judge(ToolCall("check", tool, args))
        return ruling.verdict.kind == "allow"

    found: list[str] = []
    for name in list(tested)[:_MAX_NAMES]:
        without = {key: value for key, value in base.items() if key != name}
        if slips(without):
            found.append(f"A call without `{name}` is allowed.")
        if others := [
            _word(v) for v in _others(tested[name], base.get(name)) if slips({**base, name: v})
        ]:
            words = ", ".join(dict.fromkeys(others))
            found.append(f"A call whose `{name}` is of another type ({words}) is allowed.")
    return found


def _tested(schema: object) -> dict[str, list[Json]]:
    """The arguments that it says something of, each with all of that."""
    found: dict[str, list[Json]] = {}
    for part in _parts(schema):
        for name, said in cast(Json, part.get("properties", {})).items():
            inner = found.setdefault(name, [])
            if isinstance(said, dict):
                inner.append(cast(Json, said))
        for name in cast("list[str]", part.get("required", [])):
            found.setdefault(name, [])
    return found


def _parts(schema: object) -> Iterator[dict[str, Any]]:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(cast("list[object]", part))
        elif isinstance(part, dict):
            held = cast("dict[str, Any]", part)
            yield held
            waiting.extend(held[key] for key in _INNER if key in held)


def _example(schema: dict[str, Any], tested: dict[str, list[Json]]) -> dict[str, Any]:
    """Arguments that meet it, as far as that is plain to see."""
    return {name: _value(said) for name, said in tested.items() if said}


def _value(said: list[Json]) -> Any:
    every = {key: value for part in said for key, value in part.items()}
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


def _others(said: list[Json], value: Any) -> Iterator[Any]:
    """A value of each type that the `when` may not have in mind: not of its own example's."""
    named = any({"type", "enum", "const"} & part.keys() for part in said)
    number = (int, float)
    for other in _EACH_TYPE if named else ():
        same = type(other) is type(value) or (type(other) in number and type(value) in number)
        if not same:
            yield other


def _word(value: Any) -> str:
    return next((words for kind, words in _WORDS if isinstance(value, kind)), "null")
