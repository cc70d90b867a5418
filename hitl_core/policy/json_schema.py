"""The one place where the policy meets JSON Schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hitl_core.jsonschema.budget import CONTEXT_STEPS, SCHEMA_STEPS, VALUE_STEPS, Budget
from hitl_core.jsonschema.errors import SchemaError
from hitl_core.jsonschema.problem import CheckState
from hitl_core.jsonschema.schema import check_schema, compile_schema
from hitl_core.model.arguments import JsonObject


def find_problem(
    schema: dict[str, Any], *, strict: bool = False, budget: Budget | None = None
) -> str | None:
    """A sentence on what is wrong with a schema, None where nothing is. The rest: see `check_schema`."""
    try:
        check_schema(schema, strict=strict, budget=budget)
    except SchemaError as error:
        text = str(error)
        return f"{text[:1].upper()}{text[1:]}."
    return None


def make_budget() -> Budget:
    """For all schemas of one run's context."""
    return Budget(SCHEMA_STEPS)


def make_predicate(schema: dict[str, Any]) -> Callable[[JsonObject, dict[str, Any]], bool]:
    """Whether arguments satisfy the schema, compiled once. `shared` by all predicates about one call, which
    have one budget together; or, where it has the key `outside`, by all calls of a turn. Raises where that is
    not enough.
    """
    check = compile_schema(schema).check

    def is_met(args: JsonObject, shared: dict[str, Any]) -> bool:
        if "run" not in shared:
            steps = CONTEXT_STEPS if "outside" in shared else VALUE_STEPS
            shared["run"] = CheckState(steps, strict=True)
        state: CheckState = shared["run"]
        state.depth, state.seen = 0, None  # as a check that was cut off left them
        return not check(args, state)

    return is_met
