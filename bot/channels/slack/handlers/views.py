"""The modal for a button: made from the current review, for a person who may decide."""

from __future__ import annotations

from typing import Literal, NamedTuple

from hitl_core.model import Reviewer, Snapshot

from ....card import name_and_arguments
from ....forms import FormDesk, FormKind, read_on_one_page
from ....inbox import ActionRef, PermittedSnapshot, ReviewAccess
from ....offload import offload_drawing
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

    def __init__(self, access: ReviewAccess, desk: FormDesk, channel: SlackChannel) -> None:
        self._access, self._desk, self._channel = access, desk, channel

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
        snapshot = await self._access.load_for_view(meta.target, who, seen)
        view, page = await offload_drawing(snapshot.review, lambda: _arguments_view(meta, snapshot))
        return OpenedView(view, who, page.reads)

    async def review_page(
        self,
        meta: ModalMeta,
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
        *,
        next_pending: bool = False,
    ) -> OpenedView:
        """A page of the Review modal; with `next_pending` the next pending action."""
        assert meta.review_place is not None  # `find_place` set it
        snapshot = await self._access.load_at_place(
            meta.target.review_id, meta.review_place, who, seen
        )
        review = snapshot.review
        if next_pending:
            meta = review_modal.next_pending_page(review, meta)

        def draw() -> OpenedView:
            view = review_modal.review_page(review, meta, self._channel.name_of)
            key = review_modal.key_on_page(review, meta)
            return OpenedView(view, who, read_on_one_page(review, key) if key else None)

        return await offload_drawing(review, draw)


def _arguments_view(meta: ModalMeta, snapshot: Snapshot) -> arguments_modal.ArgumentsView:
    return arguments_modal.arguments_view(
        meta, *name_and_arguments(snapshot.review, meta.target.action)
    )
