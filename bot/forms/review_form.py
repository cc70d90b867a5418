"""A form about one action of a review, made from a schema. Pure."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Self

from hitl_core.review import Proposal

from ..card import Line
from .page import Entries, FormPage, FormRef, PageField
from .session import FormSession

_FILE = "Post all of it as a file"


class ReviewForm(ABC):
    """`ref` says which form it is, and `session` has the answers of all pages."""

    def __init__(self, ref: FormRef, session: FormSession) -> None:
        self.ref, self.session = ref, session

    def enter(self, entries: Entries) -> ReviewForm:
        """The same form with what people entered on its page."""
        return self._with_session(self.session.enter(entries))

    def at_page(self, page: int, *, has_draft: bool) -> Self:
        """The same form at this page. `has_draft`: the answers are stored as a draft."""
        form = self._with_session(self.session.at_page(page))
        form.ref = replace(self.ref, page=form.session.page, has_draft=has_draft)
        return form

    def page(self, problem: str = "") -> FormPage:
        """The current page. `problem` is shown at its top."""
        session = self.session
        return FormPage(
            self.ref.at_page(session.page),
            self.title(),
            self.effect(),
            (*self._fields(), *self.extra_fields()),
            self.submit_label() if session.is_last_page else "Next",
            problem,
            self.name(),
            self.question(),
            session.page_count,
            _FILE if session.is_cut else "",
            self.about(),
        )

    @abstractmethod
    def about(self) -> tuple[Line, ...]: ...

    @abstractmethod
    def proposal(self) -> Proposal:
        """The decision that the answers make. Raises FormErrors, InvalidToolCall, SchemaError."""

    def warning(self, proposal: Proposal) -> str:
        """What to confirm first: which values this removes, what is odd in what the person entered. "" if
        nothing, or if they confirmed it.
        """
        return ""

    def with_confirmation(self, proposal: Proposal) -> Self:
        """The same form, which asks to confirm exactly this proposal."""
        return self

    @abstractmethod
    def title(self) -> str: ...

    @abstractmethod
    def name(self) -> str:
        """The tool, if the title can't have it all."""

    @abstractmethod
    def effect(self) -> str:
        """What sending the form does."""

    def question(self) -> str:
        return ""

    def extra_fields(self) -> tuple[PageField, ...]:
        """More inputs on this page, below those of the schema."""
        return ()

    @abstractmethod
    def submit_label(self) -> str:
        """The label of the button that sends the last page."""

    def locked_help(self) -> str:
        """How a value can be changed that no input can hold."""
        return ""

    def _fields(self) -> tuple[PageField, ...]:
        words = self.locked_help()
        return tuple(
            replace(one, help=words) if one.field.beyond_form else one
            for one in self.session.fields
        )

    def _with_session(self, session: FormSession) -> Self:
        form = copy.copy(self)
        form.session = session
        return form
