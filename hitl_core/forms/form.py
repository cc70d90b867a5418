"""A form: the fields for some arguments, and how their answers become new arguments."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from hitl_core.forms.answers import parse_answers, read_slots
from hitl_core.forms.branches import read_branch_choice
from hitl_core.forms.field import ABSENT, Field, InputLimits, Slot
from hitl_core.forms.prefill import prefill_fields
from hitl_core.forms.value_schema import infer_schema
from hitl_core.forms.walker import SchemaWalker, TooManyFields
from hitl_core.jsonschema import (
    FORM_STEPS,
    Budget,
    ProtectedPaths,
    TooMuchWork,
    check_schema,
)

Answers = Mapping[str, str | None]
#: A field, and the texts that people read in it.
FieldTexts = tuple[Field, list[Any]]


@dataclass(frozen=True, repr=False)
class Form:
    """A form, made by `make_form`. `answers`: the answers with which it was made."""

    schema: Mapping[str, Any] | None
    args: Mapping[str, Any]
    answers: Answers
    limits: InputLimits
    redact: Collection[str]
    plan: Plan
    fills_blanks: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields with what people entered so far."""
        if not self.answers:
            return tuple(slot.field for slot in self.plan.slots)
        return prefill_fields(self.plan.slots, self.answers, self._values)

    def __repr__(self) -> str:
        return f"Form(fields={self.fields})"  # `args` and `plan` have the hidden values

    def shown_texts(self) -> list[FieldTexts]:
        """What people read in the fields, without the choices of branches: the labels of the options, or the
        value. This is what they entered so far, as far as it can be read, or else the value of the arguments.
        Fields whose value is hidden or absent are left out.
        """
        shown: list[FieldTexts] = []
        for slot in self.plan.slots:
            if slot.is_branch_choice:
                continue
            texts: list[Any] = [option.label for option in slot.field.options]
            if not texts and (value := self._shown_value(slot)) is not ABSENT:
                texts = [value]
            if texts:
                shown.append((slot.field, texts))
        return shown

    def changed_texts(self) -> tuple[list[FieldTexts], list[FieldTexts]]:
        """What people read in the fields that they changed, and what they read in the same fields before."""
        before = self.with_answers({}).shown_texts()
        old = {field.pointer: (field, texts) for field, texts in before}
        shown = self.shown_texts()
        changed = [one for one in shown if old.get(one[0].pointer) != one]
        return changed, [old[field.pointer] for field, _ in changed if field.pointer in old]

    def _shown_value(self, slot: Slot) -> Any:
        field = slot.field
        if field.hidden:
            return ABSENT
        if field.locked is None and (answer := self.answers.get(field.pointer)):
            return self._values.get(field.pointer, answer)
        if field.kind == "json" and field.initial:
            return json.loads(field.initial)  # without the hidden parts that `value` may have
        return slot.value

    @cached_property
    def _values(self) -> Mapping[str, Any]:
        """What people entered so far, by pointer, as far as it can be read."""
        return parse_answers(self.plan.slots, self.answers, self.limits.max_text)

    @property
    def pointers(self) -> frozenset[str]:
        """The pointers of all fields."""
        return frozenset(slot.field.pointer for slot in self.plan.slots)

    def with_answers(self, answers: Answers) -> Form:
        """The same form with other answers. It is planned again only if they choose other branches."""
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
        return read_slots(
            self.schema,
            slots,
            start,
            answers,
            self.limits.max_text,
            self.redact,
            fills_blanks=self.fills_blanks,
        )


def make_form(
    schema: Mapping[str, Any] | None,
    args: Mapping[str, Any],
    *,
    max_text: int = 3000,
    max_options: int = 10_000,
    answers: Answers | None = None,
    redact: Collection[str] = (),
    name_values: bool = False,
    fills_blanks: bool = False,
    long_texts: Collection[str] = (),
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
    `fills_blanks`: an empty input of a required value that is not there yet means null, "" or [], if the
    schema allows that. `long_texts` are JSON pointers to texts whose input has several lines; long values get
    one anyway.

    Raises SchemaError for a schema that `check_schema` refuses.
    """
    limits, entered = InputLimits(max_text, max_options, name_values, long_texts), answers or {}
    plan = plan_form(schema, args, entered, limits, redact)
    return Form(schema, args, entered, limits, redact, plan, fills_blanks)


_DEPTH = 2


class Plan(NamedTuple):
    """The slots of a form, and its start: the current arguments, switched to the branches that the answers
    choose. The start is not an object if a chosen branch allows none.
    """

    slots: tuple[Slot, ...]
    start: object


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
    declared = infer_schema(current, limits.long_texts) if schema is None else root
    protected = ProtectedPaths(root, current, redact)
    budget = Budget(FORM_STEPS)
    for depth in (_DEPTH, 0):
        walker = SchemaWalker(root, protected, answers, limits, depth, budget)
        try:
            start = walker.walk(declared, current)
            return Plan(walker.slots(), start)
        except TooManyFields:
            continue
        except TooMuchWork:
            break
    walker = SchemaWalker(root, protected, answers, limits, 0, budget)
    walker.add_whole(current)
    return Plan(walker.slots(), current)
