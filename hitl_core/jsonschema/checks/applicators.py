"""The keywords whose schemas must all be met: those for properties and for items, and `allOf`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hitl_core.jsonschema.checks.problem import (
    MAX_PROBLEMS,
    Check,
    CheckState,
    CompiledNode,
    Problem,
    Problems,
    prefix_path,
)
from hitl_core.jsonschema.patterns import search

Json = dict[str, Any]


def make_all_of_check(nodes: Sequence[CompiledNode]) -> Check:
    cost = len(nodes)

    def check(value: Any, state: CheckState) -> Problems:
        state.left -= cost
        if state.left < 0:  # as `spend`, but without a call for each value
            state.spend(0)
        all_problems = list[Problem]()
        for node in nodes:
            if type(value) in node.accepted_types:
                continue
            if problems := node.check(value, state):
                state.spend(2 * len(problems))
                all_problems += problems
        return all_problems[:MAX_PROBLEMS]

    return check


def make_properties_check(named: Mapping[str, CompiledNode]) -> Check:
    cost = 1 + len(named) // 4

    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, dict):
            return ()
        state.left -= cost
        if state.left < 0:  # as `spend`, but without a call for each value
            state.spend(0)
        held, all_problems = cast(Json, value), list[Problem]()
        seen, state.seen = state.seen, None
        for name, node in named.items():
            if name in held:
                state.left -= 1
                item = held[name]
                if type(item) not in node.accepted_types and (problems := node.check(item, state)):
                    all_problems += prefix_path(name, reword_forbidden(problems), state)
                if seen is not None:
                    seen.add(name)
        state.seen = seen
        return all_problems

    return check


def make_pattern_properties_check(named: Mapping[str, CompiledNode]) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, dict):
            return ()
        all_problems = list[Problem]()
        seen, state.seen = state.seen, None
        for pattern, node in named.items():
            for name, item in cast(Json, value).items():
                state.spend(2)
                if not search(pattern, name, state):
                    continue
                if len(all_problems) < MAX_PROBLEMS and (problems := node.check(item, state)):
                    all_problems += prefix_path(name, reword_forbidden(problems), state)
                if seen is not None:
                    seen.add(name)
        state.seen = seen
        return all_problems

    return check


def make_additional_properties_check(
    named: Sequence[str], patterns: Sequence[str], node: CompiledNode
) -> Check:
    """`additionalProperties`."""
    known = frozenset(named)

    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, dict):
            return ()
        held = cast(Json, value)
        state.spend(1 + len(held) // 4)
        names = [name for name in held if name not in known]
        if patterns:
            state.spend(2 * len(names) * len(patterns))
            names = [n for n in names if not any(search(p, n, state) for p in patterns)]
        if state.seen is not None:
            state.seen.update(names)
        return check_properties(names, held, node, state)

    return check


def make_property_names_check(node: CompiledNode) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, dict):
            return ()
        seen, state.seen = state.seen, None
        wrong: str | None = None
        for name in cast(Json, value):
            state.spend(1)
            if node.check(name, state):
                wrong = name
                break
        state.seen = seen
        if wrong is None:
            return ()
        return (Problem("propertyNames", message=f"has a name that is not allowed: {wrong[:80]}"),)

    return check


def make_dependent_schemas_check(named: Mapping[str, CompiledNode]) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, dict):
            return ()
        problems = list[Problem]()
        for name, node in named.items():
            state.spend(1)
            if name in value:
                problems += node.check(value, state)
        return problems[:MAX_PROBLEMS]

    return check


def check_properties(
    names: list[str], held: Json, node: CompiledNode, state: CheckState
) -> list[Problem]:
    """Check these properties of the object `held`."""
    all_problems = list[Problem]()
    seen, state.seen = state.seen, None
    state.spend(len(names))
    for name in names:
        if problems := node.check(held[name], state):
            all_problems += prefix_path(name, reword_forbidden(problems), state)
            if len(all_problems) >= MAX_PROBLEMS:
                break
    state.seen = seen
    return all_problems


def reword_forbidden(problems: Problems) -> Problems:
    """The problems, with a better message for a property that must not exist at all."""
    if len(problems) == 1 and problems[0].keyword == "false" and not problems[0].path:
        return (problems[0]._replace(message="is not allowed here"),)
    return problems


def make_items_check(first: Sequence[CompiledNode], rest: CompiledNode | None) -> Check:
    """`first`: a schema for each of the first items. `rest`: the schema for all items after them."""
    count = len(first)

    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, list):
            return ()
        held = cast("list[Any]", value)
        state.spend(1 + len(held) // 8)
        if state.seen is not None:
            state.seen.update(range(count if rest is None else len(held)))
        problems = list[Problem]()
        seen, state.seen = state.seen, None
        for index, (node, item) in enumerate(zip(first, held, strict=False)):
            state.spend(1)
            problems += prefix_path(index, node.check(item, state), state)
        if rest is not None and len(held) > count:
            left = held[count:] if count else held
            if not (rest.accepted_types and {*map(type, left)} <= rest.accepted_types):
                problems += _check_items(left, count, rest.check, state)
        state.seen = seen
        return problems

    return check


def _check_items(items: list[Any], start: int, check: Check, state: CheckState) -> list[Problem]:
    state.spend(len(items))
    all_problems = list[Problem]()
    for index, item in enumerate(items, start):
        if problems := check(item, state):
            all_problems += prefix_path(index, problems, state)
            if len(all_problems) >= MAX_PROBLEMS:
                break
    return all_problems
