"""A form while a person fills it in, with all its pages. Pure."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hitl_core.errors import Refused
from hitl_core.forms import Answers, Field, Form, FormErrors, make_form
from hitl_core.jsonschema import SchemaError
from hitl_core.model import JsonObject

from ..card import Line, warning_lines
from ..text import one_line, remove_marks_each, shorten
from .fields import (
    PREFIX,
    field_ids,
    find_new_warnings,
    find_warnings,
    fit_pages,
    is_cut,
    means_same,
    shows_all,
)
from .limits import FormLimits
from .page import Entries, PageField
from .source import FormSource

#: A choice may add another choice, and so on. This is the most levels, as deep as a form goes.
MAX_ROUNDS = 5


@dataclass(frozen=True)
class SessionPage:
    """The current page, from 0. `is_cut`: the page shows only a part of some value."""

    number: int
    count: int
    is_last: bool
    fields: tuple[PageField, ...]
    is_cut: bool


class FormSession:
    """`form` has the answers of all pages (by pointer); `page` is the current page, from 0; `source` is what
    the form is made from.
    """

    def __init__(
        self,
        source: FormSource,
        limits: FormLimits,
        answers: Answers | None = None,
        page: int = 0,
        form: Form | None = None,
    ) -> None:
        """Makes the source's form with these answers, or uses `form`, which has its answers. Raises Refused
        if none can be made.
        """
        self.source, self._limits, self._page = source, limits, page
        self.form = form or _make_form(source, limits, answers or {})
        #: The form whose values the fields show: what was entered since is only in `form`.
        self._shown = self.form

    @property
    def answers(self) -> Answers:
        return self.form.answers

    @property
    def page(self) -> int:
        return max(0, min(self._page, self.page_count - 1))

    @property
    def page_count(self) -> int:
        return len(self._pages)

    @property
    def is_last_page(self) -> bool:
        return self.page == self.page_count - 1

    @property
    def fields(self) -> tuple[PageField, ...]:
        return tuple(
            PageField(self._ids[field.pointer], field, self._warnings.get(field.pointer, ()))
            for field in self._page_fields
        )

    @property
    def shown_page(self) -> SessionPage:
        page, count = self.page, self.page_count
        return SessionPage(page, count, page == count - 1, self.fields, is_cut(self._page_fields))

    @property
    def shows_all(self) -> bool:
        """Whether the person who sends the form has seen every value in full. Unknown, so False, if a choice
        redraws a form of several pages: it may leave out some of them.
        """
        fields = self._fields_by_pointer.values()
        return shows_all(fields) and not (self.page_count > 1 and any(f.redraws for f in fields))

    def at_page(self, page: int) -> FormSession:
        """The same form at this page. Its fields show the answers."""
        return FormSession(self.source, self._limits, page=page, form=self.form)

    def enter(self, entries: Entries) -> FormSession:
        """The same form with these entries. Fields that a choice adds are read if they were shown."""
        session = self
        for _ in range(MAX_ROUNDS):
            form = session.form
            session = session._with_answers({**session.answers, **session._read_entries(entries)})
            if session.form.plan is form.plan:  # the answers choose the same fields
                break
        return session

    def shows(self, entries: Entries) -> bool:
        """Whether the entries are for exactly the inputs of this page, not for those of another choice."""
        wanted = {self._ids[field.pointer] for field in self._page_fields if field.locked is None}
        return wanted == {each for each in entries.ids if each.startswith(PREFIX)}

    def value(self) -> JsonObject:
        """The arguments that the answers make. Raises FormErrors, SchemaError."""
        known = self.form.pointers  # answers to the fields of another choice don't count
        return self.form.read({p: answer for p, answer in self.answers.items() if p in known})

    def entry_warnings(self) -> tuple[Line, ...]:
        """What is odd in what people entered, without what was odd before."""
        return find_new_warnings(self.form)

    def page_with_error(self, errors: FormErrors) -> int | None:
        """A page with one of these errors: the current page if possible, else the first; None if there is
        none. An error about several fields belongs to the page of the last of them: on an earlier page, the
        person may still change that field.
        """
        page_of = {field.pointer: at for at, page in enumerate(self._pages) for field in page}
        about = [(pointer,) for pointer in errors.fields] + [one.pointers for one in errors.joint]
        known = [[page_of[p] for p in pointers if p in page_of] for pointers in about]
        pages = {max(pages) for pages in known if pages}
        return self.page if self.page in pages else min(pages, default=None)

    def field_errors(self, errors: FormErrors) -> dict[str, str]:
        """Error texts by field id for the current page; {} unless every error has an input, on this page or
        on another one. An error about several fields is shown beside each of them.
        """
        inputs = {field.pointer for field in self._page_fields if field.locked is None}
        elsewhere = {
            pointer
            for pointer, field in self._fields_by_pointer.items()
            if field.locked is None and pointer not in inputs
        }
        texts: dict[str, list[str]] = {}
        problems = [((pointer,), message) for pointer, message in errors.fields.items()]
        for pointers, message in [*problems, *errors.joint]:
            if not (inputs | elsewhere).intersection(pointers):
                return {}
            for pointer in inputs.intersection(pointers):
                texts.setdefault(pointer, []).append(message)
        if errors.top:
            return {}
        limit = self._limits.error
        return {self._ids[p]: shorten("; ".join(m), limit) for p, m in texts.items()}

    def error_text(self, errors: FormErrors) -> str:
        """All errors on one line, with the labels of the fields."""
        labels = {pointer: field.label for pointer, field in self._fields_by_pointer.items()}
        single = [f"{labels.get(p, p)} {message}" for p, message in errors.fields.items()]
        return one_line("; ".join([*single, *(one.sentence for one in errors.joint), *errors.top]))

    def convert_to(self, source: FormSource) -> FormSession:
        """The form of another source. It keeps the answers that mean the same there."""
        return self._keep_same(FormSession(source, self._limits, self.answers, self._page))

    def _with_answers(self, answers: Answers) -> FormSession:
        """The same form with these answers. Its fields stay, unless the answers choose other fields."""
        form = self.form.with_answers(answers)
        if form.plan is not self.form.plan:
            other = FormSession(self.source, self._limits, page=self._page, form=form)
            return self._keep_same(other)
        session = copy.copy(self)
        session.form = form
        return session

    def _keep_same(self, other: FormSession) -> FormSession:
        """The other session without the answers to fields whose kind or options changed."""
        changed = {
            pointer
            for pointer, field in self._fields_by_pointer.items()
            if (new := other._fields_by_pointer.get(pointer)) is not None
            and not means_same(field, new)
        }
        if changed.isdisjoint(other.answers):
            return other
        same = {pointer: one for pointer, one in other.answers.items() if pointer not in changed}
        form = other.form.with_answers(same)
        return FormSession(other.source, other._limits, page=other._page, form=form)

    def _read_entries(self, entries: Entries) -> dict[str, str | None]:
        """The answers by pointer, for the fields that the entries have."""
        answers = {
            field.pointer: entries.answers[id]
            for field in self._fields_by_pointer.values()
            if field.locked is None and (id := self._ids[field.pointer]) in entries.answers
        }
        return dict(zip(answers, remove_marks_each(answers.values()), strict=True))

    @cached_property
    def _fields_by_pointer(self) -> Mapping[str, Field]:
        return {field.pointer: field for page in self._pages for field in page}

    @cached_property
    def _pages(self) -> list[tuple[Field, ...]]:
        return fit_pages(self._shown.fields, self._limits)

    @cached_property
    def _warnings(self) -> Mapping[str, tuple[Line, ...]]:
        found = find_warnings(self._shown)
        return {pointer: warning_lines(lines) for pointer, lines in found.items()}

    @property
    def _page_fields(self) -> tuple[Field, ...]:
        return self._pages[self.page]

    @cached_property
    def _ids(self) -> Mapping[str, str]:
        return field_ids(self._shown.fields, self.source.revision, self.source.edition)


def _make_form(source: FormSource, limits: FormLimits, answers: Answers) -> Form:
    try:
        return make_form(
            source.schema,
            source.args,
            answers=answers,
            redact=source.redact,
            max_text=limits.text,
            max_options=limits.options,
            name_values=source.name_values,
            fills_blanks=source.fills_blanks,
            long_texts=source.long_texts,
        )
    except SchemaError as error:
        raise Refused("no_form", f"A form for this can't be made: {error}.") from error
