"""`unevaluatedProperties` and `unevaluatedItems`."""

from __future__ import annotations

from typing import Any, cast

from hitl_core.jsonschema.applicators.node import CompiledNode
from hitl_core.jsonschema.applicators.objects import check_properties, reword_forbidden
from hitl_core.jsonschema.problem import MAX_PROBLEMS, Check, CheckState, Problems, prefix_path

Json = dict[str, Any]


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
