"""The keywords whose schemas need not all be met (`anyOf`, `not`, `if`, …), and `$ref`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hitl_core.jsonschema.checks.applicators import check_properties, reword_forbidden
from hitl_core.jsonschema.checks.problem import (
    MAX_PROBLEMS,
    Check,
    CheckState,
    CompiledNode,
    Problem,
    Problems,
    prefix_path,
)
from hitl_core.jsonschema.checks.together import properties_together
from hitl_core.jsonschema.limits import MAX_DEPTH, TooMuchWork


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


def make_one_of_check(nodes: Sequence[CompiledNode], schemas: Sequence[Any]) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        wrong, met = list[Problems](), list[int]()
        for at, node in enumerate(nodes):
            state.spend(1)
            problems = check_branch(node, value, state)
            if not problems:
                met.append(at)
            if len(met) > 1:
                together = properties_together([schemas[each] for each in met])
                return (Problem("oneOf", together=together),)
            wrong.append(problems)
        return () if met else (Problem("oneOf", branches=tuple(wrong)),)

    return check


def make_not_check(node: CompiledNode, schema: Any) -> Check:
    wrong = (Problem("not", together=properties_together([schema])),)

    def check(value: Any, state: CheckState) -> Problems:
        state.spend(1)
        seen, state.seen = state.seen, None
        problems = node.check(value, state)
        state.seen = seen
        return () if problems else wrong

    return check


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


def make_if_check(
    condition: CompiledNode, then: CompiledNode | None, otherwise: CompiledNode | None
) -> Check:
    def check(value: Any, state: CheckState) -> Problems:
        state.spend(2)
        node = otherwise if check_branch(condition, value, state) else then
        return () if node is None else node.check(value, state)

    return check


def make_ref_check(nodes: Mapping[int, CompiledNode], target: int) -> Check:
    """The check of a reference. The target is looked up at each check, because a schema can contain itself:
    then the target is not compiled yet when the reference is compiled.
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
            held = cast("dict[str, Any]", value)
            state.spend(1 + len(held))
            names = [name for name in held if name not in own]
            problems += check_properties(names, held, properties, state)
            own.update(names)
        if items is not None and isinstance(value, list):
            state.spend(1 + len(cast("list[Any]", value)))
            for index, item in enumerate(cast("list[Any]", value)):
                if index not in own:
                    problems += prefix_path(
                        index, reword_forbidden(items.check(item, state)), state
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
