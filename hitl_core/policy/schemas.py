"""JSON Schema for the policy. It is imported only if a policy has schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hitl_core.jsonschema import (
    CONTEXT_STEPS,
    SCHEMA_STEPS,
    VALUE_STEPS,
    Budget,
    CheckState,
    SchemaError,
    check_schema,
    compile_schema,
)
from hitl_core.model import JsonObject


def find_problem(
    schema: dict[str, Any], *, strict: bool = False, budget: Budget | None = None
) -> str | None:
    """One sentence about the problem of a schema, None if it is fine. `strict`, `budget`: see
    `check_schema`.
    """
    try:
        check_schema(schema, strict=strict, budget=budget)
    except SchemaError as error:
        text = str(error)
        return f"{text[:1].upper()}{text[1:]}."
    return None


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
