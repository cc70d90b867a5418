"""Handles buttons that decide nothing: they open a modal, show another page of it, or post a file.

Nothing after `ack` may raise: Bolt's default runner would turn the acknowledgement into a 404.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncRespond

from hitl_core.errors import Refused
from hitl_core.model import Reviewer

from .... import click_budget, refusals
from ....card import APPROVED_TITLE, Line
from ....forms import FormRef
from ....inbox import (
    ActionRef,
    Inbox,
    PermittedSnapshot,
    Press,
    ReadRequired,
    Reply,
    file_posted,
)
from ...contract import ChannelError
from .. import ids
from ..channel import SlackChannel
from ..ids import Body, ModalMeta
from ..modals import notice
from ..places import LABEL
from .responder import Responder
from .views import OpenedView, Views

log = logging.getLogger(__name__)


class ModalButtons:
    def __init__(
        self, inbox: Inbox, channel: SlackChannel, views: Views, responder: Responder
    ) -> None:
        self._inbox, self._channel = inbox, channel
        self._views, self._responder = views, responder

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        for action_id in ("edit", "reject", "respond", "see", "review"):
            app.action(action_id)(self.press)
        app.action(re.compile("review_page:.*"))(self.show_review_page)
        app.action(re.compile("see_page:.*"))(self.show_arguments_page)
        app.action("file")(self.post_file)

    async def press(self, ack: AsyncAck, body: Body, respond: AsyncRespond, press: Press) -> None:
        await self.open_card_modal(body, respond, press)
        await ack()

    async def open_card_modal(self, body: Body, respond: AsyncRespond, press: Press) -> None:
        """Opens what a button about the whole card opens: the actions one by one, all arguments, or a
        form.
        """
        card = ids.message_of(body)
        match press.verb:
            case "review":
                who = await self._responder.load_reviewer(body)
                page = self._views.first_review_page(press.target, press.number, card, who)
                await self._responder.open_modal(body, respond, ModalMeta(press.target), page)
            case "escalate":
                await self._open_escalation(body, respond, press)
            case _:
                about = FormRef.of_button(press, card) or press.target
                await self.open_modal(body, respond, about)

    async def show_review_page(self, ack: AsyncAck, body: Body, press: Press) -> None:
        """Another page of the Review modal."""
        meta = ids.parse_meta(body["view"])
        assert meta.review is not None  # only the Review modal has these buttons
        page = meta.review._replace(number=press.number)
        who = await self._responder.load_reviewer(body)
        await self.refresh_modal(body, self._views.review_page(meta.target, page, who))
        await ack()

    async def show_next_action(
        self, body: Body, who: Reviewer, seen: PermittedSnapshot | None
    ) -> None:
        """Shows the next pending action in the Review modal, after a decision in it. Never raises."""
        meta = ids.parse_meta(body["view"])
        assert meta.review is not None  # `parse_meta` checked it
        page = self._views.review_page(meta.target, meta.review, who, seen, next_pending=True)
        await self.refresh_modal(body, page, "show")

    async def _open_escalation(self, body: Body, respond: AsyncRespond, press: Press) -> None:
        form = FormRef.of_button(press, ids.message_of(body))
        assert form is not None  # every button with this id says "escalate"
        if form.card is None:
            reply = Reply("gone", refusals.ESCALATE_ON_CARD)
            await self._responder.send_reply(body, respond, reply)
        else:
            who = await self._responder.load_reviewer(body)
            meta = ModalMeta(form)
            pending_view = self._views.build(meta, who)
            await self._responder.open_modal(body, respond, meta, pending_view)

    async def show_arguments_page(self, ack: AsyncAck, body: Body, press: Press) -> None:
        """Another page of "See all of it"."""
        meta = replace(ids.parse_meta(body["view"]), about=press.target)
        who = await self._responder.load_reviewer(body)
        await self.refresh_modal(body, self._views.arguments_page(meta, press.number, who))
        await ack()

    async def show_approved(
        self, body: Body, press: Press, who: Reviewer, seen: PermittedSnapshot | None
    ) -> None:
        """Shows the result of an approval in place of the modal with all arguments. Never raises."""

        async def build_view() -> OpenedView:
            text = await self._inbox.reader.approval_result(press.target, who, seen)
            return OpenedView(notice(text, APPROVED_TITLE), who)

        await self.refresh_modal(body, build_view(), "show")

    async def post_file(self, ack: AsyncAck, body: Body, press: Press) -> None:
        """Posts all arguments as a file in the card's thread, for what is too long for a modal."""
        target = press.target
        who = await self._responder.load_reviewer(body)
        try:
            async with click_budget.timeout("file"):
                file = await self._inbox.reader.file(target, who)
                await self._channel.upload(file.place, file.ref, file.name, file.text)
            text = file_posted(self._channel.name_of(file.place))
            view = notice(text, "Posted")
        except Refused as refused:
            view = notice(str(refused))
        except ChannelError as error:
            log.warning("review %s: the file could not be posted: %s", target.review_id, error)
            view = notice(refusals.file_refused(LABEL))
        except TimeoutError:
            log.warning("review %s: the file could not be posted in time", target.review_id)
            view = notice(refusals.file_too_slow(LABEL))
        await self._responder.push_modal(body, view)
        await ack()

    async def open_modal(
        self,
        body: Body,
        respond: AsyncRespond,
        about: FormRef | ActionRef,
        seen: PermittedSnapshot | None = None,
        why: Line = (),
    ) -> None:
        """Opens the form or "All arguments". If the policy requires that people read the arguments, these
        come first. `why` is shown above them.
        """
        view = ids.view_of(body)
        below = (
            ids.parse_meta(view).review if view.get("callback_id") in ("review", "see") else None
        )
        meta = ModalMeta(about, below)
        who = await self._responder.load_reviewer(body)

        async def build_view() -> OpenedView:
            try:
                return await self._views.build(meta, who, seen, why)
            except ReadRequired as required:
                target, reason = required.unread
                return await self._views.build(replace(meta, about=target), who, why=reason)

        await self._responder.open_modal(body, respond, meta, build_view())

    async def refresh_modal(
        self,
        body: Body,
        pending_view: Coroutine[Any, Any, OpenedView],
        step: click_budget.Step = "page",
    ) -> None:
        """Updates the modal with the button. Never raises, because a click that decides is already stored."""
        try:
            async with click_budget.timeout(step):
                opened = await pending_view
                await self._responder.show_page(str(body["view"]["id"]), opened)
        except TimeoutError:
            log.warning("a modal could not be updated in time")
        except Refused as refused:
            await self._responder.show_refusal(body, refused)
