"""Builds the modals of one person, from the review as it is now."""

from __future__ import annotations

from typing import NamedTuple

from hitl_core.model import MessageRef, Reviewer

from ....card import Line
from ....forms import FormRef, FormService
from ....inbox import ActionPage, ActionRef, PermittedSnapshot, Reader
from ..channel import SlackChannel
from ..ids import ModalMeta, ReviewPage
from ..modals import View, arguments_modal, form_view, review_modal


class OpenedView(NamedTuple):
    """A view for one person. `reads`: the action that they have read in full, once Slack has shown it."""

    view: View
    who: Reviewer
    reads: ActionRef | None = None


class Views:
    """Every method raises Refused."""

    def __init__(self, reader: Reader, form_service: FormService, channel: SlackChannel) -> None:
        self._reader, self._form_service, self._channel = reader, form_service, channel

    async def build(
        self,
        meta: ModalMeta,
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
        why: Line = (),
    ) -> OpenedView:
        """The form, or the first page of all arguments; `why` says why these are shown. `seen`: the review
        that the click has loaded.
        """
        if not isinstance(meta.about, FormRef):
            return await self.arguments_page(meta, 0, who, seen, why)
        page = await self._form_service.open(meta.about, who, seen)
        return OpenedView(form_view(page, meta.review), who)

    async def arguments_page(
        self,
        meta: ModalMeta,
        number: int,
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
        why: Line = (),
    ) -> OpenedView:
        split = arguments_modal.split_arguments
        page = await self._reader.arguments(meta.target, number, who, split, seen)
        return OpenedView(arguments_modal.arguments_view(meta, page, why), who, page.reads)

    async def first_review_page(
        self, target: ActionRef, number: int, card: MessageRef | None, who: Reviewer
    ) -> OpenedView:
        """The Review modal for this card, at this page."""
        page = await self._reader.first_action(target.review_id, number, card, who)
        return self._review_view(page, target, who)

    async def review_page(
        self,
        target: ActionRef,
        page: ReviewPage,
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
        *,
        next_pending: bool = False,
    ) -> OpenedView:
        """This page of the Review modal; with `next_pending`, the next pending action."""
        action_page = await self._reader.action(
            page.digest or target.review_id,
            page.place,
            page.number,
            who,
            seen,
            next_pending=next_pending,
        )
        return self._review_view(action_page, target, who)

    def _review_view(self, page: ActionPage, target: ActionRef, who: Reviewer) -> OpenedView:
        view = review_modal.review_page(page, target, self._channel.name_of)
        return OpenedView(view, who, page.reads)
