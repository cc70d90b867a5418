"""The state of a form while a person fills it in, over all its pages. Pure."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hitl_core.errors import Refused
from hitl_core.forms import Field, Form, FormErrors, make_form
from hitl_core.forms import read_answers as read_form
from hitl_core.jsonschema import SchemaError
from hitl_core.model import JsonObject

from ..render import Block
from . import fields
from .fields import MAX_OPTIONS, BlockIds
from .inputs import input_block

#: Answers by JSON Pointer; `hitl_core.forms.Kind` says in which format.
Answers = Mapping[str, str | None]
#: A choice may add another choice, and so on: this many levels, as deep as a form goes.
MAX_ROUNDS = 5
_TEXT_KINDS = {"text", "long_text", "email", "uri", "integer", "number", "lines", "json"}


@dataclass(frozen=True)
class FormSource:
    """The schema and values of a form. `revision` and `edition` distinguish its inputs from those of another
    form in the same view.
    """

    schema: JsonObject | None
    args: JsonObject
    redact: tuple[str, ...] = ()
    revision: int = 1
    edition: str = ""


class FormState:
    """`answers` are those of all pages; `page` is the current one, from 0."""

    def __init__(self, source: FormSource, answers: Answers, page: int = 0) -> None:
        """Raises Refused if no form can be made."""
        self._source, self.answers = source, answers
        self.form = self._build_form()
        self._block_ids = BlockIds(self.form, source.revision, source.edition)
        self._pages = [
            tuple(field.pointer for field in one) for one in fields.split_pages(self.form)
        ]
        self.page = max(0, min(page, self.page_count - 1))

    @property
    def page_count(self) -> int:
        return len(self._pages)

    @property
    def is_last_page(self) -> bool:
        return self.page == self.page_count - 1

    @property
    def page_fields(self) -> tuple[Field, ...]:
        """The fields of the current page."""
        return tuple(self._fields_by_pointer[pointer] for pointer in self._pages[self.page])

    def at_page(self, page: int) -> FormState:
        """The same form at this page."""
        return FormState(self._source, self.answers, page)

    def with_values(self, values: Mapping[str, Any]) -> FormState:
        """The same form with these inputs (Slack's `state.values`). Fields that a choice adds are read if the
        view showed them.
        """
        state = self
        for _ in range(MAX_ROUNDS):
            new_answers = fields.read_state(state.form.fields, state._block_ids, values)
            after = {**state.answers, **new_answers}
            if after == state.answers:
                break
            state = state._with_answers(after)
        return state

    def matches_view(self, values: Mapping[str, Any]) -> bool:
        """Whether the view had exactly the inputs of this page, and not those of another choice."""
        wanted = {self._block_ids.of(field) for field in self.page_fields if field.locked is None}
        return wanted == {block_id for block_id in values if block_id.startswith("f:")}

    def value(self) -> JsonObject:
        """The arguments that the answers make. Raises FormErrors, SchemaError."""
        source = self._source
        # Answers to the fields of another choice don't count.
        known = {p: answer for p, answer in self.answers.items() if p in self._fields_by_pointer}
        return read_form(
            source.schema, source.args, known, redact=source.redact, max_options=MAX_OPTIONS
        )

    def page_with_error(self, form_errors: FormErrors) -> int | None:
        """A page with one of these errors: the current one if possible, else the first; None if there is
        none.
        """
        pages = [self.page, *range(self.page_count)]
        return next(
            (n for n in pages if not form_errors.fields.keys().isdisjoint(self._pages[n])), None
        )

    def field_errors(self, form_errors: FormErrors) -> dict[str, str]:
        """Error texts by block id for the current page; {} if it has no input."""
        elsewhere = self._fields_by_pointer.keys() - set(self._pages[self.page])
        page_errors = {
            p: message for p, message in form_errors.fields.items() if p not in elsewhere
        }
        return fields.errors_by_block(
            self.page_fields, self._block_ids, page_errors, form_errors.top
        )

    def error_text(self, form_errors: FormErrors) -> str:
        """All errors in one sentence, with the names of the fields."""
        labels = {pointer: field.label for pointer, field in self._fields_by_pointer.items()}
        return "; ".join(
            [*(f"{labels.get(p, p)} {m}" for p, m in form_errors.fields.items()), *form_errors.top]
        )

    def blocks(self) -> list[Block]:
        return [input_block(field, self._block_ids.of(field)) for field in self.page_fields]

    @cached_property
    def _fields_by_pointer(self) -> dict[str, Field]:
        return {field.pointer: field for field in self.form.fields}

    def convert_to(self, source: FormSource) -> FormState:
        """Another form with those answers of this one that mean the same there."""
        return self._rebuild(source, self.answers)

    def _with_answers(self, answers: Answers) -> FormState:
        """The same form with these answers; rebuilt if an answer decides which fields there are."""
        if any(field.redraws for field in self.form.fields):
            return self._rebuild(self._source, answers)
        state_copy = copy.copy(self)
        state_copy.answers = answers
        return state_copy

    def _rebuild(self, source: FormSource, answers: Answers) -> FormState:
        """A new form without the answers to fields whose kind or options changed."""
        state = FormState(source, answers, self.page)
        changed_pointers = {
            pointer
            for pointer, field in self._fields_by_pointer.items()
            if (new := state._fields_by_pointer.get(pointer)) is not None
            and not _means_same(field, new)
        }
        if changed_pointers.isdisjoint(answers):
            return state
        same_answers = {
            pointer: one for pointer, one in answers.items() if pointer not in changed_pointers
        }
        return FormState(source, same_answers, self.page)

    def _build_form(self) -> Form:
        source = self._source
        try:
            form = make_form(
                source.schema,
                source.args,
                answers=self.answers,
                redact=source.redact,
                max_options=MAX_OPTIONS,
            )
        except SchemaError as error:
            raise Refused("no_form", f"No form can be made for it: {error}.") from error
        return fields.to_modal_form(form)


def _means_same(one: Field, other: Field) -> bool:
    """Whether an answer to one of the fields means the same for the other."""
    typed = one.kind in _TEXT_KINDS and other.kind in _TEXT_KINDS
    return typed or (one.kind == other.kind and one.options == other.options)
