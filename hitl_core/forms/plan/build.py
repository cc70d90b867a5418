"""Plans a form: the slots that a JSON Schema and the current arguments need."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from hitl_core.forms.fields import InputLimits
from hitl_core.forms.plan.location import INFERRED, Location
from hitl_core.forms.plan.schema_walker import SchemaWalker, TooManyFields
from hitl_core.forms.slot import Slot
from hitl_core.jsonschema import FORM_STEPS, Budget, ProtectedPaths, TooMuchWork, check_schema

_DEPTH = 2


class Plan(NamedTuple):
    """The slots of a form, and its start: the current arguments, switched to the branches that the answers
    choose.
    """

    slots: tuple[Slot, ...]
    start: dict[str, Any]


def plan_form(
    schema: Mapping[str, Any] | None,
    args: Mapping[str, Any],
    answers: Mapping[str, str | None],
    limits: InputLimits,
    redact: Collection[str],
) -> Plan:
    """The fields of a form (see `make_form`), with everything that is needed to read their answers. `answers`
    choose the branches. Raises SchemaError.
    """
    if schema is not None:
        check_schema(schema)
    root: dict[str, Any] = dict(schema or {})
    current = dict(args)
    protected = ProtectedPaths(root, current, redact)
    budget = Budget(FORM_STEPS)
    for depth in (_DEPTH, 0):
        walker = SchemaWalker(root, protected, answers, limits, depth, budget)
        try:
            start = walker.walk_value(Location(), INFERRED if schema is None else root, current)
        except TooManyFields:
            continue
        except TooMuchWork:
            break
        return Plan(tuple(walker.slots), start)
    walker = SchemaWalker(root, protected, answers, limits, 0, budget)
    walker.add_whole(current)
    return Plan(tuple(walker.slots), current)
