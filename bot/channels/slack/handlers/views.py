"""Builds the modals of one person, from the review as it is now."""

from __future__ import annotations

from typing import Literal, NamedTuple

from hitl_core.model import MessageRef, Reviewer

from ....forms import FormDesk, FormKind
from ....inbox import ActionPage, ActionRef, PermittedSnapshot, Reader
from ..channel import SlackChannel
from ..ids import ModalMeta
from ..modals import View, arguments_modal, form_view, review_modal

#: What a button opens: a form, or all arguments.
ModalKind = FormKind | Literal["see"]


class OpenedView(NamedTuple):
    """A view for one person. `reads` is the action that they have read all of, once Slack has shown it."""

    view: View
    who: Reviewer
    reads: ActionRef | None = None


class Views:
    """Every method raises Refused."""

    def __init__(self, reader: Reader, desk: FormDesk, channel: SlackChannel) -> None:
        self._reader, self._desk, self._channel = reader, desk, channel

    async def build(
        self,
        kind: ModalKind,
        meta: ModalMeta,
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
    ) -> OpenedView:
        """`seen` is the review that the same click has loaded."""
        if kind == "see":
            return await self.arguments_page(meta, who, seen)
        return OpenedView(form_view(await self._desk.open(meta.form(kind), who, seen), meta), who)

    async def arguments_page(
        self, meta: ModalMeta, who: Reviewer, seen: PermittedSnapshot | None = None
    ) -> OpenedView:
        split = arguments_modal.split_arguments
        page = await self._reader.arguments(meta.target, meta.page, who, split, seen)
        return OpenedView(arguments_modal.arguments_view(meta, page), who, page.reads)

    async def first_review_page(
        self, target: ActionRef, number: int, card: MessageRef | None, who: Reviewer
    ) -> OpenedView:
        """The Review modal for this card, at this page."""
        page = await self._reader.first_action(target.review_id, number, card, who)
        return self._review_view(page, ModalMeta(target), who)

    async def review_page(
        self,
        meta: ModalMeta,
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
        *,
        next_pending: bool = False,
    ) -> OpenedView:
        """A page of the Review modal; with `next_pending` the next pending action."""
        review_id, place, number = meta.target.review_id, meta.review_place, meta.review_page
        assert place is not None  # `first_review_page` set it
        page = await self._reader.action(
            review_id, place, number, who, seen, next_pending=next_pending
        )
        return self._review_view(page, meta, who)

    def _review_view(self, page: ActionPage, meta: ModalMeta, who: Reviewer) -> OpenedView:
        view = review_modal.review_page(page, meta, self._channel.name_of)
        return OpenedView(view, who, page.reads)
