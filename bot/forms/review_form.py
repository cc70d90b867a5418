"""A form about one action of a review, made from a schema. Pure."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

from hitl_core.review import Proposal

from ..card import Line
from .page import Entries, FormPage, FormRef, PageField
from .session import FormSession

_FILE = "Post all of it as a file"


@dataclass(frozen=True)
class FormFrame:
    """The parts of a form's pages beside the fields of its schema (see `FormPage`). `submit`: the label of
    the button that sends the last page. `last_fields`: more inputs on the last page. `locked_help`: how a
    value can be changed that no input can hold.
    """

    title: str
    effect: str
    submit: str
    about: tuple[Line, ...]
    name: str = ""
    question: str = ""
    problem: str = ""
    locked_help: str = ""
    last_fields: tuple[PageField, ...] = ()


class ReviewForm(ABC):
    """`ref` identifies the form; `session` has the answers of all pages."""

    def __init__(self, ref: FormRef, session: FormSession) -> None:
        self.ref, self.session = ref, session

    def enter(self, entries: Entries) -> ReviewForm:
        """The same form with what people entered on its page."""
        return self._with_session(self.session.enter(entries))

    def at_page(self, page: int, *, draft: str) -> Self:
        """The same form at this page. `draft`: the id of the save that has the answers."""
        form = self._with_session(self.session.at_page(page))
        form.ref = replace(self.ref, page=form.session.page, draft=draft)
        return form

    def page(self, problem: str = "") -> FormPage:
        """The current page. `problem` is shown at its top."""
        shown, frame = self.session.shown_page, self.frame()
        fields = [
            replace(one, help=frame.locked_help) if one.field.beyond_form else one
            for one in shown.fields
        ]
        return FormPage(
            replace(self.ref, page=shown.number),
            frame.title,
            frame.effect,
            (*fields, *(frame.last_fields if shown.is_last else ())),
            frame.submit if shown.is_last else "Next",
            problem or frame.problem,
            frame.name,
            frame.question,
            shown.count,
            _FILE if shown.is_cut else "",
            frame.about,
        )

    @abstractmethod
    def frame(self) -> FormFrame: ...

    @abstractmethod
    def proposal(self) -> Proposal:
        """The decision that follows from the answers. Raises FormErrors, InvalidToolCall, SchemaError."""

    def warning(self, proposal: Proposal) -> str:
        """What the person must confirm first: which values are removed, and what is odd in what they entered.
        "" if there is nothing, or if they confirmed it.
        """
        return ""

    def with_confirmation(self, proposal: Proposal) -> Self:
        """The same form, which now asks to confirm exactly this proposal."""
        return self

    def _with_session(self, session: FormSession) -> Self:
        form = copy.copy(self)
        form.session = session
        return form
