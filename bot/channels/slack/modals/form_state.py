"""What somebody has filled in of a form so far, over all its pages. Pure."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hitl_core.errors import Refused
from hitl_core.forms import Field, Form, FormErrors, SchemaError, make_form
from hitl_core.forms import read_answers as read_form
from hitl_core.model.arguments import JsonObject

from ..render.block_kit import Block
from . import fields
from .fields import MAX_OPTIONS, BlockIds
from .inputs import input_block

#: By pointer, as `hitl_core.forms.Kind` says.
Answers = Mapping[str, str | None]
#: A choice may bring a choice, and that one another: as deep as a form goes.
MAX_ROUNDS = 5
_TEXT_KINDS = {"text", "long_text", "email", "uri", "integer", "number", "lines", "json"}


@dataclass(frozen=True)
class FormSource:
    """What a form is made of. `revision` and `edition` tell its inputs from those of another form that the
    same view may show.
    """

    schema: JsonObject | None
    args: JsonObject
    redact: tuple[str, ...] = ()
    revision: int = 1
    edition: str = ""


class FormState:
    """`answers` are those of all pages; `page` is the one that is shown, from 0."""

    def __init__(self, source: FormSource, answers: Answers, page: int = 0) -> None:
        """Raises Refused where no form can be made."""
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
        """The fields of this page."""
        return tuple(self._fields_by_pointer[pointer] for pointer in self._pages[self.page])

    def at_page(self, page: int) -> FormState:
        """Made again, to be drawn with all that was entered."""
        return FormState(self._source, self.answers, page)

    def with_values(self, values: Mapping[str, Any]) -> FormState:
        """With what these inputs hold (Slack's `state.values`), to be read. What a choice brings is read
        where the view was drawn by that choice.
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
        """Whether a view with these inputs shows this page, and not that of another choice."""
        wanted = {self._block_ids.of(field) for field in self.page_fields if field.locked is None}
        return wanted == {block_id for block_id in values if block_id.startswith("f:")}

    def value(self) -> JsonObject:
        """What the answers make of it. Raises FormErrors, SchemaError."""
        source = self._source
        # Answers to what another choice had asked for don't count.
        known = {p: answer for p, answer in self.answers.items() if p in self._fields_by_pointer}
        return read_form(
            source.schema, source.args, known, redact=source.redact, max_options=MAX_OPTIONS
        )

    def page_with_error(self, form_errors: FormErrors) -> int | None:
        """The page with one of these errors: this one if it has any, else the first; None without any."""
        pages = [self.page, *range(self.page_count)]
        return next(
            (n for n in pages if not form_errors.fields.keys().isdisjoint(self._pages[n])), None
        )

    def field_errors(self, form_errors: FormErrors) -> dict[str, str]:
        """Beside the inputs of this page; {} where it has none."""
        elsewhere = self._fields_by_pointer.keys() - set(self._pages[self.page])
        page_errors = {
            p: message for p, message in form_errors.fields.items() if p not in elsewhere
        }
        return fields.errors_by_block(
            self.page_fields, self._block_ids, page_errors, form_errors.top
        )

    def error_text(self, form_errors: FormErrors) -> str:
        """All of it in one sentence, with the names of the fields."""
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
        """What was entered here in another form, as far as it means the same there."""
        return self._rebuild(source, self.answers)

    def _with_answers(self, answers: Answers) -> FormState:
        """Made again where an answer decides which fields follow."""
        if any(field.redraws for field in self.form.fields):
            return self._rebuild(self._source, answers)
        state_copy = copy.copy(self)
        state_copy.answers = answers
        return state_copy

    def _rebuild(self, source: FormSource, answers: Answers) -> FormState:
        """What is asked in another way there is not answered yet."""
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
            raise Refused("no_form", f"No form can be made of it: {error}.") from error
        return fields.to_modal_form(form)


def _means_same(one: Field, other: Field) -> bool:
    """Whether an answer to one of them means the same to the other."""
    typed = one.kind in _TEXT_KINDS and other.kind in _TEXT_KINDS
    return typed or (one.kind == other.kind and one.options == other.options)
