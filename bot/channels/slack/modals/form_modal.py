"""A modal with a form of one or more pages. Pure."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from hitl_core.review import Proposal

from ..ids import ModalMeta
from ..render import Block, actions, button, context, line, mrkdwn, rich_text, shorten, text_element
from .fields import is_truncated
from .form_state import Answers, FormState
from .small_modals import View, modal

#: The action id of "Back".
BACK = "form_back"


class FormModal(ABC):
    """`meta` has the page to show; `form_state` the answers of all pages."""

    def __init__(self, callback_id: str, meta: ModalMeta, form_state: FormState) -> None:
        self._callback_id, self.meta, self.form_state = callback_id, meta, form_state

    def with_state(self, values: Mapping[str, Any]) -> FormModal:
        """The same modal with the inputs of a view (its `state.values`)."""
        return self._with_values(values)

    def _with_values(self, values: Mapping[str, Any]) -> Self:
        modal_copy = copy.copy(self)
        modal_copy.form_state = self.form_state.with_values(values)
        return modal_copy

    @abstractmethod
    def at_page(self, page: int, *, has_draft: bool) -> FormModal:
        """The same modal at this page. `has_draft`: the answers are stored as a draft."""

    @abstractmethod
    def proposal(self) -> Proposal:
        """The decision that the answers make. Raises FormErrors, InvalidToolCall, SchemaError."""

    def removal_warning(self, proposal: Proposal) -> str:
        """One sentence on the values that this removes; "" if none, or if the person confirmed it."""
        return ""

    def with_confirmation(self, proposal: Proposal) -> FormModal:
        """The same modal, which asks to confirm exactly this proposal."""
        return self

    @abstractmethod
    def title(self) -> str: ...

    @abstractmethod
    def intro_blocks(self) -> list[Block]:
        """What submitting does, above the inputs."""

    def extra_blocks(self) -> list[Block]:
        """More inputs, below those of the form."""
        return []

    @abstractmethod
    def submit_label(self) -> str:
        """The label of the submit button."""

    @property
    def answers(self) -> Answers:
        return self.form_state.answers

    def view(self, problem: str = "") -> View:
        """The view of the current page. `problem` is shown at the top."""
        form_state = self.form_state
        blocks: list[Block] = []
        if problem:
            blocks.append(
                rich_text("wrong", line(text_element(f"⚠ {shorten(problem, 500)}", bold=True)))
            )
        blocks += [*self.intro_blocks(), *form_state.blocks(), *self.extra_blocks()]
        if any(map(is_truncated, form_state.page_fields)):
            blocks.append(self._file_button())
        if form_state.page_count > 1:
            blocks.append(self._page_buttons())
        meta = replace(self.meta, page=form_state.page)
        submit = self.submit_label() if form_state.is_last_page else "Next"
        return modal(self._callback_id, self.title(), blocks, meta, submit=submit)

    def _page_buttons(self) -> Block:
        page, pages = self.form_state.page, self.form_state.page_count
        if page == 0:
            return context("page", mrkdwn(f"Page 1 of {pages}"))
        label = f"◀ Back to page {page} of {pages}"
        return actions("page", [button(BACK, label, str(page - 1), label)])

    def _file_button(self) -> Block:
        target = self.meta.target
        value = f"{target.review_id}.{target.action}.{target.revision}"
        label = "Post all of it as a file"
        return actions("file", [button("file", label, value, f"{label}, below the card")])
