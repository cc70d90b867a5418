"""Shows a person the result of a click: in a modal, a private message, or their App Home."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any

from slack_bolt.async_app import AsyncRespond

from hitl_core.errors import Refused
from hitl_core.model import Reviewer

from .... import click_budget, refusals
from ....inbox import (
    Inbox,
    PermittedSnapshot,
    Reply,
)
from ....logs import trace_of
from ....text import one_line
from ...contract import ChannelError
from .. import ids
from ..channel import SlackChannel
from ..ids import Body, ModalMeta
from ..modals import View, loading, notice
from ..places import LABEL, NAME
from ..render import plain_message
from .home import HomeTab
from .views import OpenedView

log = logging.getLogger(__name__)

_NOT_SHOWN = "Slack didn't show a person the answer to a click."


class Responder:
    def __init__(self, inbox: Inbox, channel: SlackChannel, home: HomeTab) -> None:
        self._inbox, self._channel, self._home = inbox, channel, home

    async def load_reviewer(self, body: Body) -> Reviewer:
        user = body["user"]
        name = str(user.get("name") or user.get("username") or user["id"])
        team = str(user.get("team_id") or "")  # a missing team counts as another workspace
        return await self._inbox.directory.load_reviewer(NAME, str(user["id"]), team, name)

    async def open_modal(
        self,
        body: Body,
        respond: AsyncRespond | None,
        meta: ModalMeta,
        pending_view: Coroutine[Any, Any, OpenedView],
    ) -> None:
        """Opens a modal within the trigger's 3 s. If the store is slow, a loading view comes first. If the
        button is in a modal, the new one opens on top of it, or in its place. A refusal is shown.
        """
        task = asyncio.create_task(pending_view)
        try:
            async with click_budget.timeout("open"):
                opened = await self._open_when_ready(body, meta, task)
            if opened is not None:
                await self._record_read(opened)
        except Refused as refused:
            reply = Reply.refusal(refused)
            await self._refresh_card(body, meta, reply)
            await self.send_reply(body, respond, reply)
        except ChannelError as error:
            log.error("review %s: a modal could not be opened: %s", meta.target.review_id, error)
            reply = Reply("unavailable", refusals.form_not_opened(LABEL))
            await self.send_reply(body, respond, reply)
        except TimeoutError:
            log.warning("review %s: a modal could not be opened in time", meta.target.review_id)
            reply = Reply("unavailable", refusals.form_not_opened(LABEL))
            await self.send_reply(body, respond, reply)
        finally:
            task.cancel()

    async def _open_when_ready(
        self, body: Body, meta: ModalMeta, task: asyncio.Task[OpenedView]
    ) -> OpenedView | None:
        """Opens the modal when its view is ready. Returns the view that Slack shows now; None for a notice.
        Raises Refused, ChannelError.
        """
        done, _ = await asyncio.wait([task], timeout=click_budget.seconds("loading_view"))
        if done:
            opened = task.result()
            await self._open_view(body, opened.view)
            return opened
        view_id = await self._open_view(body, loading(meta))
        try:
            opened = await task
        except Refused as refused:
            await self._refresh_card(body, meta, Reply.refusal(refused))
            await self._channel.update_view(view_id, notice(str(refused)))
            return None
        await self._channel.update_view(view_id, opened.view)
        return opened

    async def send_reply(self, body: Body, respond: AsyncRespond | None, reply: Reply) -> None:
        """Answers the person privately: by the click's response_url, which also reaches people outside the
        channel, or on top of the modal or Home with the button.

        Raises ChannelError if the sentence reached nobody. Then the click must not be acknowledged, because a
        refusal that nobody reads would look like success: the person sees a failure, and may press again.
        """
        if not reply.text:
            return
        if ids.view_of(body):
            await self._push_modal(body, notice(reply.text))
            return
        try:
            async with click_budget.timeout("respond"):
                assert respond is not None  # every message has one
                answer = await respond(
                    **plain_message(one_line(reply.text)),
                    response_type="ephemeral",
                    replace_original=False,
                )
            if answer.status_code == 200:
                return
        except Exception as error:  # Bolt's webhook client raises any error of its HTTP library
            log.info("response_url failed: %s", error)
        try:
            async with click_budget.timeout("respond"):
                await self._channel.post_ephemeral(
                    body["channel"]["id"], body["user"]["id"], reply.text
                )
        except TimeoutError:
            raise ChannelError(_NOT_SHOWN) from None

    async def redraw_private_card(
        self, respond: AsyncRespond, review_id: str, who: Reviewer
    ) -> None:
        """Draws the card of `/approvals show` again after a click: the outbox doesn't know it. Never
        raises, because the click is stored.
        """
        try:
            async with click_budget.timeout("show"):
                card = await self._inbox.reader.card(review_id, who)
                message = await asyncio.to_thread(self._channel.card_message, card)
                await respond(**message, response_type="ephemeral", replace_original=True)
        except Exception as error:  # also any error of Bolt's HTTP library
            log.warning("review %s: a private card could not be updated: %s", review_id, error)

    async def _refresh_card(self, body: Body, meta: ModalMeta, reply: Reply) -> None:
        await self._inbox.refresh_card(reply, meta.target.review_id, ids.message_of(body))

    async def push_modal(self, body: Body, view: View) -> None:
        """Opens a modal on top of the one with the button. Never raises."""
        try:
            await self._push_modal(body, view)
        except ChannelError as error:
            log.warning("a modal could not be opened: %s", error)

    async def show_refusal(self, body: Body, refused: Refused) -> None:
        """Shows the refusal in place of a modal that is no longer useful; otherwise on top of it, so
        that the person's input stays. Never raises.
        """
        if refused.code == "unavailable":
            await self.push_modal(body, notice(str(refused)))
        else:
            await self.update_modal(str(body["view"]["id"]), notice(str(refused)))

    async def show_page(self, view_id: str, opened: OpenedView) -> None:
        """Shows another page in an open modal. Never raises."""
        if await self.update_modal(view_id, opened.view):
            await self._record_read(opened)

    async def update_modal(self, view_id: str, view: View) -> bool:
        """Returns whether Slack shows the view now. Never raises, because the result is already stored."""
        try:
            async with click_budget.timeout("show"):
                await self._channel.update_view(view_id, view)
        except (ChannelError, TimeoutError) as error:
            log.warning("a modal could not be updated: %s", error)
            return False
        return True

    async def _record_read(self, opened: OpenedView) -> None:
        """Records what the person has read on the page that Slack shows now. Never raises: without the record
        the pages open again.
        """
        if opened.reads is None:
            return
        with contextlib.suppress(TimeoutError):
            async with click_budget.timeout("record"):
                await self._inbox.access.read_marks.record(opened.reads, opened.who)

    async def refresh_home(self, body: Body, seen: PermittedSnapshot | None = None) -> None:
        """Updates the Home at once after a click in it. `seen`: the review of the click. Never raises,
        because the person has the result.
        """
        if ids.view_of(body).get("type") != "home":
            return
        try:
            async with click_budget.timeout("show"):
                await self._home.publish(str(body["user"]["id"]), seen=seen)
        except Exception as error:
            log.warning("a Home could not be updated: %s", trace_of(error))

    async def _open_view(self, body: Body, view: View) -> str:
        """Replaces a modal that is on top of another one: Slack shows three, and the third is for notices."""
        current = ids.view_of(body)
        if current.get("previous_view_id") is None:
            return await self._show_modal(body, current, view)
        await self._channel.update_view(str(current["id"]), view)
        return str(current["id"])

    async def _push_modal(self, body: Body, view: View) -> None:
        """Raises ChannelError."""
        try:
            async with click_budget.timeout("show"):
                await self._show_modal(body, ids.view_of(body), view)
        except TimeoutError:
            raise ChannelError(_NOT_SHOWN) from None

    async def _show_modal(self, body: Body, current: Body, view: View) -> str:
        """`current`: the view with the button."""
        trigger = str(body["trigger_id"])
        if current.get("type") == "modal":
            return await self._channel.push_view(trigger, view)
        return await self._channel.open_view(trigger, view)
