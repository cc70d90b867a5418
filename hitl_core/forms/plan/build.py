"""A JSON Schema and the current arguments become a form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from hitl_core.forms.fields.input_fields import InputLimits
from hitl_core.forms.form import Form
from hitl_core.forms.plan.location import INFERRED, Location
from hitl_core.forms.plan.prefill import prefill_field
from hitl_core.forms.plan.schema_walker import SchemaWalker, TooManyFields
from hitl_core.forms.slot import Slot
from hitl_core.jsonschema.budget import FORM_STEPS, Budget, TooMuchWork
from hitl_core.jsonschema.hidden import ProtectedPaths
from hitl_core.jsonschema.schema import check_schema

_DEPTH = 2


class Plan(NamedTuple):
    """The slots of a form, and the arguments that they start from: those that were given, with the branches
    that the answers choose."""

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

    The fields of the schema in its order, then those of the other arguments; without a schema, or where it
    says nothing, the values say what they are. Objects are flattened, two levels deep. What has no input of
    its own is a JSON field; arguments that can't be shown that way (none, more than 400 fields, a schema that
    takes too long to put together) are one, with the pointer "". Inputs hold at most `max_text` UTF-16 units;
    a longer value is locked.
    One of more than `max_options` values is typed, and checked when it is read.

    `answers`, by pointer, are what people entered so far: the form is the one for the branches that they
    chose, and shows what they typed. `redact` are JSON pointers to values that nobody may see.
    Raises SchemaError for a schema that `check_schema` refuses.
    """
    given = answers or {}
    slots = plan_form(schema, args, given, InputLimits(max_text, max_options), redact).slots
    return Form(
        tuple(
            prefill_field(slot, given[slot.field.pointer], max_text)
            if slot.field.pointer in given
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
    """The fields with what is needed to read them."""
    if schema is not None:
        check_schema(schema)
    root: dict[str, Any] = dict(schema or {})
    given = dict(args)
    marks = ProtectedPaths(root, given, redact)
    budget = Budget(FORM_STEPS)
    for depth in (_DEPTH, 0):
        walk = SchemaWalker(root, marks, answers, limits, depth, budget)
        try:
            start = walk.walk_value(Location(), INFERRED if schema is None else root, given)
        except TooManyFields:
            continue
        except TooMuchWork:
            break
        return Plan(tuple(walk.slots), start)
    walk = SchemaWalker(root, marks, answers, limits, 0, budget)
    walk.add_whole(given)
    return Plan(tuple(walk.slots), given)
