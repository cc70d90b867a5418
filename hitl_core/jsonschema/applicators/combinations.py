"""Keywords that apply other schemas to the same value: `allOf`, `anyOf`, `if`, `$ref` and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hitl_core.jsonschema.applicators.node import CompiledNode
from hitl_core.jsonschema.budget import MAX_DEPTH, TooMuchWork
from hitl_core.jsonschema.problem import MAX_PROBLEMS, Check, CheckState, Problem, Problems


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
