"""Makes a form from a JSON Schema and the current arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from hitl_core.forms.fields import InputLimits
from hitl_core.forms.form import Form
from hitl_core.forms.plan.location import INFERRED, Location
from hitl_core.forms.plan.prefill import prefill_field
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


def make_form(
    schema: Mapping[str, Any] | None,
    args: Mapping[str, Any],
    *,
    max_text: int = 3000,
    max_options: int = 10_000,
    answers: Mapping[str, str | None] | None = None,
    redact: Collection[str] = (),
) -> Form:
    """The form for these arguments (plain JSON values).

    First come the fields of the schema in its order, then those of the other arguments. Without a schema the
    type of each value decides. Objects are flattened two levels deep. A value without a suitable input is a
    JSON field. If this is not possible (no arguments, more than 400 fields, a schema that takes too long),
    the form is one JSON field for all arguments, with the pointer "".

    An input has at most `max_text` UTF-16 units, and a longer value is locked. A choice with more than
    `max_options` options is a text input, which is checked when it is read. `answers`, by pointer, are what
    people entered so far: the form has the branches that they chose and shows what they typed. `redact` are
    JSON pointers to hidden values.

    Raises SchemaError for a schema that `check_schema` refuses.
    """
    entered = answers or {}
    slots = plan_form(schema, args, entered, InputLimits(max_text, max_options), redact).slots
    return Form(
        tuple(
            prefill_field(slot, entered[slot.field.pointer], max_text)
            if slot.field.pointer in entered
            else slot.field
            for slot in slots
        )
    )


def plan_form(
    schema: Mapping[str, Any] | None,
    args: Mapping[str, Any],
    answers: Mapping[str, str | None],
    limits: InputLimits,
    redact: Collection[str],
) -> Plan:
    """The fields of the form, with everything that is needed to read their answers."""
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
