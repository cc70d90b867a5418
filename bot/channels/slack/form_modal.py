"""A modal with a form over one page or several. Pure."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.channels.slack.fields import is_cut
from bot.channels.slack.filling import Answers, Filling
from bot.channels.slack.ids import Meta
from bot.channels.slack.modals import View, modal
from bot.channels.slack.rich import (
    Block,
    actions,
    button,
    context,
    line,
    mrkdwn,
    rich_text,
    shortened,
    words,
)
from hitl_core.review.transitions import Proposal

#: "Back" to the page before; what `Listeners` knows it by.
BACK = "form_back"


class FormModal(ABC):
    """`meta` says which page it shows; `filling` has the answers of all of them."""

    def __init__(self, callback_id: str, meta: Meta, filling: Filling) -> None:
        self._callback_id, self.meta, self.filling = callback_id, meta, filling

    def with_state(self, values: Mapping[str, Any]) -> FormModal:
        """With what the inputs of a view hold now (its `state.values`)."""
        same = copy.copy(self)
        same.filling = self.filling.filled(values)
        return same

    @abstractmethod
    def at(self, page: int, *, kept: bool) -> FormModal:
        """To be drawn at this page, with all that was entered so far; `kept`: there is a draft of it."""

    @abstractmethod
    def proposal(self) -> Proposal:
        """What sending it decides. Raises FormErrors, InvalidToolCall, SchemaError."""

    def takes_away(self, proposal: Proposal) -> str:
        """In one sentence what sending this would take away; "" where nothing, or where it is confirmed."""
        return ""

    def asking(self, proposal: Proposal) -> FormModal:
        """The same, asking to confirm exactly this."""
        return self

    @abstractmethod
    def title(self) -> str: ...

    @abstractmethod
    def told(self) -> list[Block]:
        """What sending it does, above the inputs."""

    def more(self) -> list[Block]:
        """Inputs of its own, below those of the form."""
        return []

    @abstractmethod
    def last_word(self) -> str:
        """The button that sends it."""

    @property
    def answers(self) -> Answers:
        return self.filling.answers

    def view(self, wrong: str = "") -> View:
        """`wrong` is told at the top, where no input of this page can say it."""
        filling = self.filling
        drawn: list[Block] = []
        if wrong:
            drawn.append(rich_text("wrong", line(words(f"⚠ {shortened(wrong, 500)}", bold=True))))
        drawn += [*self.told(), *filling.blocks(), *self.more()]
        if any(map(is_cut, filling.here)):
            drawn.append(self._whole())
        if filling.pages > 1:
            drawn.append(self._turning())
        meta = replace(self.meta, page=filling.page)
        submit = self.last_word() if filling.is_last else "Next"
        return modal(self._callback_id, self.title(), drawn, meta, submit=submit)

    def _turning(self) -> Block:
        page, pages = self.filling.page, self.filling.pages
        if page == 0:
            return context("page", mrkdwn(f"Page 1 of {pages}"))
        told = f"◀ Back to page {page} of {pages}"
        return actions("page", [button(BACK, told, str(page - 1), told)])

    def _whole(self) -> Block:
        target = self.meta.target
        value = f"{target.review_id}.{target.action}.{target.revision}"
        told = "Post all of it as a file"
        return actions("file", [button("file", told, value, f"{told}, below the card")])
