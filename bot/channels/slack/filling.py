"""What somebody has filled in of a form so far, over all its pages. Pure."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bot.channels.slack import fields
from bot.channels.slack.fields import MAX_OPTIONS, Ids
from bot.channels.slack.inputs import input_block
from bot.channels.slack.rich import Block
from hitl_core.errors import Refused
from hitl_core.forms import Field, Form, FormErrors, SchemaError, make_form
from hitl_core.forms import read_answers as read_form
from hitl_core.model.arguments import JsonObject

#: By pointer, as `hitl_core.forms.Kind` says.
Answers = Mapping[str, str | None]
#: A choice may bring a choice, and that one another: as deep as a form goes.
MAX_ROUNDS = 5
_TYPED = {"text", "long_text", "email", "uri", "integer", "number", "lines", "json"}


@dataclass(frozen=True)
class Source:
    """What a form is made of. `revision` and `edition` tell its inputs from those of another form that the
    same view may show.
    """

    schema: JsonObject | None
    args: JsonObject
    redact: tuple[str, ...] = ()
    revision: int = 1
    edition: str = ""


class Filling:
    """`answers` are those of all pages; `page` is the one that is shown, from 0."""

    def __init__(self, source: Source, answers: Answers, page: int = 0) -> None:
        """Raises Refused where no form can be made."""
        self._source, self.answers = source, answers
        self.form = self._made()
        self._ids = Ids(self.form, source.revision, source.edition)
        self._pages = [tuple(field.pointer for field in one) for one in fields.paged(self.form)]
        self.page = max(0, min(page, self.pages - 1))

    @property
    def pages(self) -> int:
        return len(self._pages)

    @property
    def is_last(self) -> bool:
        return self.page == self.pages - 1

    @property
    def here(self) -> tuple[Field, ...]:
        """The fields of this page."""
        return tuple(self._by_pointer[pointer] for pointer in self._pages[self.page])

    def at(self, page: int) -> Filling:
        """Made again, to be drawn with all that was entered."""
        return Filling(self._source, self.answers, page)

    def filled(self, values: Mapping[str, Any]) -> Filling:
        """With what these inputs hold (Slack's `state.values`), to be read. What a choice brings is read
        where the view was drawn by that choice.
        """
        made = self
        for _ in range(MAX_ROUNDS):
            read = fields.read_answers(made.form.fields, made._ids, values)
            after = {**made.answers, **read}
            if after == made.answers:
                break
            made = made._with(after)
        return made

    def is_drawn_in(self, values: Mapping[str, Any]) -> bool:
        """Whether a view with these inputs shows this page, and not that of another choice."""
        wanted = {self._ids.of(field) for field in self.here if field.locked is None}
        return wanted == {block_id for block_id in values if block_id.startswith("f:")}

    def value(self) -> JsonObject:
        """What the answers make of it. Raises FormErrors, SchemaError."""
        source = self._source
        # Answers to what another choice had asked for don't count.
        known = {p: answer for p, answer in self.answers.items() if p in self._by_pointer}
        return read_form(
            source.schema, source.args, known, redact=source.redact, max_options=MAX_OPTIONS
        )

    def page_of(self, wrong: FormErrors) -> int | None:
        """The page with one of these errors: this one if it has any, else the first; None without any."""
        pages = [self.page, *range(self.pages)]
        return next((n for n in pages if not wrong.fields.keys().isdisjoint(self._pages[n])), None)

    def errors(self, wrong: FormErrors) -> dict[str, str]:
        """Beside the inputs of this page; {} where it has none."""
        elsewhere = self._by_pointer.keys() - set(self._pages[self.page])
        here = {p: message for p, message in wrong.fields.items() if p not in elsewhere}
        return fields.errors_by_block(self.here, self._ids, here, wrong.top)

    def told(self, wrong: FormErrors) -> str:
        """All of it in one sentence, with the names of the fields."""
        labels = {pointer: field.label for pointer, field in self._by_pointer.items()}
        return "; ".join(
            [*(f"{labels.get(p, p)} {m}" for p, m in wrong.fields.items()), *wrong.top]
        )

    def blocks(self) -> list[Block]:
        return [input_block(field, self._ids.of(field)) for field in self.here]

    @cached_property
    def _by_pointer(self) -> dict[str, Field]:
        return {field.pointer: field for field in self.form.fields}

    def moved(self, source: Source) -> Filling:
        """What was entered here in another form, as far as it means the same there."""
        return self._remade(source, self.answers)

    def _with(self, answers: Answers) -> Filling:
        """Made again where an answer decides which fields follow."""
        if any(field.redraws for field in self.form.fields):
            return self._remade(self._source, answers)
        same = copy.copy(self)
        same.answers = answers
        return same

    def _remade(self, source: Source, answers: Answers) -> Filling:
        """What is asked in another way there is not answered yet."""
        made = Filling(source, answers, self.page)
        other = {
            pointer
            for pointer, field in self._by_pointer.items()
            if (new := made._by_pointer.get(pointer)) is not None and not _alike(field, new)
        }
        if other.isdisjoint(answers):
            return made
        kept = {pointer: one for pointer, one in answers.items() if pointer not in other}
        return Filling(source, kept, self.page)

    def _made(self) -> Form:
        source = self._source
        try:
            made = make_form(
                source.schema,
                source.args,
                answers=self.answers,
                redact=source.redact,
                max_options=MAX_OPTIONS,
            )
        except SchemaError as error:
            raise Refused("no_form", f"No form can be made of it: {error}.") from error
        return fields.shown_form(made)


def _alike(one: Field, other: Field) -> bool:
    """Whether an answer to one of them means the same to the other."""
    typed = one.kind in _TYPED and other.kind in _TYPED
    return typed or (one.kind == other.kind and one.options == other.options)
