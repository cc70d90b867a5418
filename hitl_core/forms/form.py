"""A form: the fields for some arguments, and how their answers become new arguments."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from hitl_core.forms.answers import parse_answer, read_slots
from hitl_core.forms.branches import read_branch_choice
from hitl_core.forms.field import ABSENT, Field, InputLimits, Slot, utf16_length
from hitl_core.forms.value_schema import INFERRED
from hitl_core.forms.walker import SchemaWalker, TooManyFields
from hitl_core.jsonschema import (
    FORM_STEPS,
    Budget,
    ProtectedPaths,
    TooMuchWork,
    check_schema,
    is_valid_format,
)

Answers = Mapping[str, str | None]


@dataclass(frozen=True, repr=False)
class Form:
    """Made by `make_form`. `answers` are those that it was made with."""

    schema: Mapping[str, Any] | None
    args: Mapping[str, Any]
    answers: Answers
    limits: InputLimits
    redact: Collection[str]
    plan: Plan

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields with what people entered so far."""
        answers, max_text = self.answers, self.limits.max_text
        return tuple(
            prefill_field(slot, answers[slot.field.pointer], max_text)
            if slot.field.pointer in answers
            else slot.field
            for slot in self.plan.slots
        )

    def __repr__(self) -> str:
        return f"Form(fields={self.fields})"  # `args` and `plan` have the hidden values

    def shown_values(self) -> dict[str, Any]:
        """By pointer, the value that a field shows: what people entered so far, as far as it can be read, or
        what the arguments have. What is hidden, or not there, has none.
        """
        shown = ((slot.field.pointer, _shown_value(slot, self)) for slot in self.plan.slots)
        return {pointer: value for pointer, value in shown if value is not ABSENT}

    @property
    def pointers(self) -> frozenset[str]:
        """The pointers of all fields."""
        return frozenset(slot.field.pointer for slot in self.plan.slots)

    def with_answers(self, answers: Answers) -> Form:
        """The same form with these answers. It is planned again only if they choose other branches."""
        if all(
            read_branch_choice(slot, answers) == read_branch_choice(slot, self.answers)
            for slot in self.plan.slots
            if slot.is_branch_choice
        ):
            return replace(self, answers=answers)
        plan = plan_form(self.schema, self.args, answers, self.limits, self.redact)
        return replace(self, answers=answers, plan=plan)

    def read(self, answers: Answers) -> dict[str, Any]:
        """The new arguments, from answers by pointer.

        A value stays exactly as it is if the answer is missing or is what the input showed, or if the field
        is locked. None and "" are an empty input. A `required` field refuses it, because some clients send it
        for untouched inputs. For other fields an empty input means:

        - null, if the schema allows it;
        - or absent, if the value is optional: then the tool's default applies, as the hint says. An optional
          object is removed with its last field;
        - or "" or [], for a text or a list.

        Use `find_removed` to see what an edit removes, and ask the person if that is intended.

        If an empty input means null or absent, a person can type `""` for an empty text, and `[]` for an
        empty list. If a person chooses another branch, values that fit there are kept, and values of the old
        branch only are removed. Answers for branches that are not chosen are ignored.

        Raises FormErrors, and SchemaError if the arguments can't be checked.
        """
        slots, start = self.with_answers(answers).plan
        return read_slots(self.schema, slots, start, answers, self.limits.max_text, self.redact)


def make_form(
    schema: Mapping[str, Any] | None,
    args: Mapping[str, Any],
    *,
    max_text: int = 3000,
    max_options: int = 10_000,
    answers: Answers | None = None,
    redact: Collection[str] = (),
    name_values: bool = False,
) -> Form:
    """The form for these arguments (plain JSON values).

    First come the fields of the schema in its order, then those of the other arguments. Without a schema the
    type of each value decides. Objects are flattened two levels deep. A value without a suitable input is a
    JSON field. If this is not possible (no arguments, more than 400 fields, a schema that takes too long),
    the form is one JSON field for all arguments, with the pointer "".

    An input has at most `max_text` UTF-16 units, and a longer value is locked. A choice with more than
    `max_options` options is a text input, which is checked when it is read. `answers`, by pointer, are what
    people entered so far: the form has the branches that they chose and shows what they typed. `redact` are
    JSON pointers to hidden values. `name_values`: an option with a name of its own shows its value too.

    Raises SchemaError for a schema that `check_schema` refuses.
    """
    limits, entered = InputLimits(max_text, max_options, name_values), answers or {}
    plan = plan_form(schema, args, entered, limits, redact)
    return Form(schema, args, entered, limits, redact, plan)


def _shown_value(slot: Slot, form: Form) -> Any:
    field = slot.field
    if field.hidden or slot.is_branch_choice:
        return ABSENT
    if field.locked is None and (answer := form.answers.get(field.pointer)):
        try:
            return parse_answer(slot, answer, form.limits.max_text)
        except ValueError:
            return answer
    if field.kind == "json" and field.initial:
        return json.loads(field.initial)  # without the hidden parts that `value` may have
    return slot.value


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
            start = walker.walk(INFERRED if schema is None else root, current)
            return Plan(walker.slots(), start)
        except TooManyFields:
            continue
        except TooMuchWork:
            break
    walker = SchemaWalker(root, protected, answers, limits, 0, budget)
    walker.add_whole(current)
    return Plan(walker.slots(), current)


_PICKER_FORMATS = ("option", "options", "date", "time", "datetime")


def prefill_field(slot: Slot, answer: str | None, max_text: int) -> Field:
    """The field with this answer. If the input can't show it, a picked answer is left out, and a typed answer
    is shown in a text input.
    """
    field = slot.field
    if field.locked is not None:
        return field
    if not answer:
        empty = str(slot.values.index(ABSENT)) if ABSENT in slot.values else None
        return field._replace(initial=empty, min_length=None, min_items=None)
    try:
        parse_answer(slot, answer, max_text)
    except ValueError:
        return field if slot.reads in _PICKER_FORMATS else _prefill_text(_as_text(field), answer)
    match field.kind:
        case "integer" | "number":
            return _prefill_number(field, answer.strip())
        case "email" | "uri" if not is_valid_format(field.kind, answer):
            return _prefill_text(_as_text(field), answer)
        case "choices":
            return _prefill_choices(field, answer)
        case _ if slot.reads in _PICKER_FORMATS:
            return field._replace(initial=answer)
        case _:
            return _prefill_text(field, answer)


def _as_text(field: Field) -> Field:
    if field.kind in ("long_text", "lines", "json"):
        return field
    return field._replace(kind="text", minimum=None, maximum=None)


def _prefill_text(field: Field, answer: str) -> Field:
    least, most, length = field.min_length, field.max_length, utf16_length(answer)
    return field._replace(
        initial=answer,
        min_length=least if least and length >= least else None,
        max_length=most if most and length <= most else None,
    )


def _prefill_number(field: Field, answer: str) -> Field:
    if "e" in answer.lower():
        return _prefill_text(_as_text(field), answer)
    least, most, number = field.minimum, field.maximum, Decimal(answer)
    return field._replace(
        initial=answer,
        minimum=least if least and number >= Decimal(least) else None,
        maximum=most if most and number <= Decimal(most) else None,
    )


def _prefill_choices(field: Field, answer: str) -> Field:
    least, most, count = field.min_items, field.max_items, len(answer.split(","))
    return field._replace(
        initial=answer,
        min_items=least if least and count >= least else None,
        max_items=most if most and count <= most else None,
    )
