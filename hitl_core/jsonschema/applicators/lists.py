"""Keywords that check the items of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hitl_core.jsonschema.applicators.node import CompiledNode
from hitl_core.jsonschema.problem import (
    MAX_PROBLEMS,
    Check,
    CheckState,
    Problem,
    Problems,
    prefix_path,
)


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


def _check_items(items: list[Any], start: int, check: Check, state: CheckState) -> list[Problem]:
    state.spend(len(items))
    all_problems = list[Problem]()
    for index, item in enumerate(items, start):
        if problems := check(item, state):
            all_problems += prefix_path(index, problems, state)
            if len(all_problems) >= MAX_PROBLEMS:
                break
    return all_problems
