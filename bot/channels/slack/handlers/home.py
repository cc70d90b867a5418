"""App Home and `/approvals`: the reviews that wait for a person, with their buttons."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from slack_bolt.async_app import AsyncAck

from hitl_core.errors import HitlError, Refused
from hitl_core.model import Reviewer

from .... import click_budget
from ....card import COMMAND_HELP
from ....inbox import (
    HomeLoader,
    HomeView,
    Inbox,
    PermittedSnapshot,
    Press,
    list_error,
    offload_home,
)
from ....text import one_line
from ...contract import ChannelError
from ..channel import SlackChannel
from ..ids import Body
from ..places import LABEL, NAME
from ..render import (
    card_message,
    error_blocks,
    list_blocks,
    mrkdwn_text,
    plain_message,
    summary,
    view_blocks,
)

log = logging.getLogger(__name__)


class HomeTab:
    """A Home is sent only if it changed since the last time."""

    def __init__(self, homes: HomeLoader, inbox: Inbox, channel: SlackChannel) -> None:
        self._homes, self._inbox, self._channel = homes, inbox, channel

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.event("app_home_opened")(self.on_home_opened)
        app.action(re.compile("home_page:.*"))(self.on_page_button)
        app.command("/approvals")(self.on_command)

    async def on_home_opened(self, event: Body) -> None:
        if event.get("tab") != "home":
            return
        user_id = str(event["user"])
        await self._run_in_time(user_id, self._open_home(user_id))

    async def on_page_button(self, ack: AsyncAck, body: Body, press: Press) -> None:
        user_id = str(body["user"]["id"])
        await self._run_in_time(user_id, self.publish(user_id, press.number))
        await ack()

    async def publish(
        self,
        user_id: str,
        page: int | None = None,
        *,
        force: bool = False,
        seen: PermittedSnapshot | None = None,
    ) -> None:
        """Publish this page, or the current one. An unchanged page is not sent again, unless `force`. `seen`:
        the review of a click in the Home. Raises ChannelError, StoreUnavailable.
        """
        shown = await self._homes.views.load(_key(user_id))
        who = await self._load_reviewer(user_id)
        home = await self._homes.load_home(who, shown.page if page is None else page, seen)
        view_content = await offload_home(home, lambda home: view_blocks(home, self._channel))
        view = {"type": "home", "blocks": view_content}
        sent = hashlib.sha256(json.dumps(view).encode()).hexdigest()
        if not force and shown.sent == sent:
            return
        await self._channel.publish_home(user_id, view)
        await self._homes.views.replace(_key(user_id), shown, HomeView(home.page, sent))

    async def on_command(self, ack: AsyncAck, body: Body) -> None:
        """`/approvals` and `/approvals show ID`. Only the person who typed it sees the answer."""
        reply: dict[str, Any]
        try:
            async with click_budget.timeout("home"):
                reply = await self._answer_command(body)
        except (HitlError, ChannelError, TimeoutError) as error:
            if not isinstance(error, Refused):
                log.warning("/approvals could not be answered: %s", error or "it took too long")
            reply = plain_message(one_line(list_error(error, LABEL)))
        await ack(response_type="ephemeral", text=reply["text"], blocks=reply.get("blocks"))

    async def _answer_command(self, body: Body) -> dict[str, Any]:
        verb, _, rest = str(body.get("text") or "").strip().partition(" ")
        who = await self._load_reviewer(str(body["user_id"]), str(body["team_id"]))
        if not verb:
            home = await self._homes.load_home(who)
            content = await offload_home(home, lambda home: list_blocks(home, self._channel))
            return {"text": summary(home), "blocks": content}
        if verb != "show" or not rest.strip():
            return {"text": mrkdwn_text(COMMAND_HELP)}
        return await self.private_card(await self._homes.find_review_id(who, rest), who)

    async def private_card(self, review_id: str, who: Reviewer) -> dict[str, Any]:
        """The card in a message that only this person sees. Raises Refused."""
        card = await self._inbox.reader.card(review_id, who)
        return await asyncio.to_thread(
            card_message.message, card, self._channel.name_of, self._channel.link
        )

    async def _open_home(self, user_id: str) -> None:
        await self._homes.views.record_open(_key(user_id))
        await self.publish(user_id, 0, force=True)

    async def _run_in_time(self, user_id: str, publishing: Coroutine[Any, Any, None]) -> None:
        """Publish, but stop if it takes too long, and show the error in the Home. Slack would repeat an event
        that gets no answer.
        """
        try:
            async with click_budget.timeout("home"):
                await publishing
        except (HitlError, ChannelError, TimeoutError) as error:
            log.warning("the Home of %s could not be updated: %s", user_id, error or "too slow")
            await self.show_error(user_id, error)

    async def show_error(self, user_id: str, error: Exception) -> None:
        """Show the error in the person's Home, until the next update. Never raises: the error itself is in
        the log.
        """
        with suppress(Exception):
            async with click_budget.timeout("home_error"):
                view = {"type": "home", "blocks": error_blocks(list_error(error, LABEL))}
                await self._channel.publish_home(user_id, view)
                await self._homes.views.forget(_key(user_id))

    async def _load_reviewer(self, user_id: str, team: str = "") -> Reviewer:
        return await self._inbox.directory.load_reviewer(
            NAME, user_id, team or self._channel.team, user_id
        )


def _key(user_id: str) -> str:
    return f"{NAME}:{user_id}"
