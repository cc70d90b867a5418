"""The keywords that contain schemas (`properties`, `anyOf`, `$ref`, …), each compiled to a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from hitl_core.jsonschema.budget import MAX_DEPTH, TooMuchWork
from hitl_core.jsonschema.patterns import search
from hitl_core.jsonschema.problem import (
    MAX_PROBLEMS,
    Check,
    CheckState,
    Problem,
    Problems,
    prefix_path,
)

Json = dict[str, Any]


class CompiledNode(NamedTuple):
    """A compiled schema. All values of the Python types in `accepted_types` are valid, so they need no
    check.
    """

    check: Check
    accepted_types: frozenset[type] = frozenset()


def make_properties_check(named: Mapping[str, CompiledNode]) -> Check:
    each = [(name, node.check) for name, node in named.items()]
    cost = 1 + len(each) // 4

    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, dict):
            return ()
        state.spend(cost)
        held, all_problems = cast(Json, value), list[Problem]()
        seen, state.seen = state.seen, None
        for name, inner in each:
            if name in held:
                state.left -= 1
                if problems := inner(held[name], state):
                    all_problems += prefix_path(name, _reword_forbidden(problems), state)
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
                    all_problems += prefix_path(name, _reword_forbidden(problems), state)
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
        return _check_properties(names, held, node, state)

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


def make_contains_check(
    node: CompiledNode, least: float, most: float | None, *, marks: bool
) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        if not isinstance(value, list):
            return ()
        held = cast("list[Any]", value)
        state.spend(1 + len(held))
        seen, state.seen = state.seen, None
        matching = [n for n, item in enumerate(held) if not node.check(item, state)]
        state.seen = seen
        if marks and seen is not None:
            seen.update(matching)
        if len(matching) < least:
            return (Problem("contains", least),)
        return (Problem("maxContains", most),) if most is not None and len(matching) > most else ()

    return check


def make_all_of_check(nodes: Sequence[CompiledNode]) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        state.spend(len(nodes))
        all_problems = list[Problem]()
        for node in nodes:
            if problems := node.check(value, state):
                state.spend(2 * len(problems))
                all_problems += problems
        return all_problems[:MAX_PROBLEMS]

    return check


def make_any_of_check(nodes: Sequence[CompiledNode]) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        wrong, met = list[Problems](), False
        for node in nodes:
            state.spend(2)
            problems = check_branch(node, value, state)
            met = met or not problems
            if met and state.seen is None:
                return ()
            wrong.append(problems)
        return () if met else (Problem("anyOf", branches=tuple(wrong)),)

    return check


def make_one_of_check(nodes: Sequence[CompiledNode]) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        wrong, met = list[Problems](), 0
        for node in nodes:
            state.spend(1)
            problems = check_branch(node, value, state)
            met += not problems
            if met > 1:
                return (Problem("oneOf"),)
            wrong.append(problems)
        return () if met else (Problem("oneOf", branches=tuple(wrong)),)

    return check


def make_not_check(node: CompiledNode) -> Check:
    wrong = (Problem("not"),)

    def check(value: Any, state: CheckState) -> Problems:
        state.spend(1)
        seen, state.seen = state.seen, None
        problems = node.check(value, state)
        state.seen = seen
        return () if problems else wrong

    return check


def make_if_check(
    condition: CompiledNode, then: CompiledNode | None, otherwise: CompiledNode | None
) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        state.spend(2)
        node = otherwise if check_branch(condition, value, state) else then
        return () if node is None else node.check(value, state)

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


def make_ref_check(nodes: Mapping[int, CompiledNode], target: int) -> Check:
    """A reference. The target is looked up at each check, because a schema can contain itself: then the
    target is not compiled yet when the reference is.
    """

    def check(value: Any, state: CheckState) -> Problems:
        state.spend(2)
        state.depth += 1
        if state.depth > MAX_DEPTH:
            raise TooMuchWork("the references of the schema are nested too deeply to be checked")
        problems = nodes[target].check(value, state)
        state.depth -= 1
        return problems

    return check


def make_unevaluated_check(
    rest: Check, properties: CompiledNode | None, items: CompiledNode | None
) -> Check:
    """`unevaluatedProperties` and `unevaluatedItems`: they apply to what the other keywords (`rest`) did not
    evaluate.
    """

    def check(value: Any, state: CheckState) -> Problems:
        outer_seen, state.seen = state.seen, set[str | int]()
        problems = [*rest(value, state)]
        own, state.seen = state.seen, None
        if properties is not None and isinstance(value, dict):
            held = cast(Json, value)
            state.spend(1 + len(held))
            names = [name for name in held if name not in own]
            problems += _check_properties(names, held, properties, state)
            own.update(names)
        if items is not None and isinstance(value, list):
            state.spend(1 + len(cast("list[Any]", value)))
            for index, item in enumerate(cast("list[Any]", value)):
                if index not in own:
                    problems += prefix_path(
                        index, _reword_forbidden(items.check(item, state)), state
                    )
                    own.add(index)
                    if len(problems) >= MAX_PROBLEMS:
                        break
        state.seen = outer_seen
        if outer_seen is not None:
            state.spend(len(own))
            outer_seen |= own
        return problems

    return check


def check_branch(node: CompiledNode, value: Any, state: CheckState) -> Problems:
    """Check one of several schemas. Its evaluated names and items count only if the value is valid."""
    outer_seen = state.seen
    if outer_seen is None:
        return node.check(value, state)
    state.seen = set[str | int]()
    problems = node.check(value, state)
    if not problems:
        state.spend(1 + len(state.seen))
        outer_seen |= state.seen
    state.seen = outer_seen
    return problems


def _check_properties(
    names: list[str], held: Json, node: CompiledNode, state: CheckState
) -> list[Problem]:
    all_problems = list[Problem]()
    seen, state.seen = state.seen, None
    state.spend(len(names))
    for name in names:
        if problems := node.check(held[name], state):
            all_problems += prefix_path(name, _reword_forbidden(problems), state)
            if len(all_problems) >= MAX_PROBLEMS:
                break
    state.seen = seen
    return all_problems


def _reword_forbidden(problems: Problems) -> Problems:
    """A better message for a property that must not exist at all."""
    if len(problems) == 1 and problems[0].keyword == "false" and not problems[0].path:
        return (problems[0]._replace(message="is not allowed here"),)
    return problems
