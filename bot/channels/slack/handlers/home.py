"""App Home: the reviews that wait for a person, with their buttons."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from slack_bolt.async_app import AsyncAck

from hitl_core.errors import HitlError

from .... import click_budget
from ....inbox import (
    HomeLoader,
    HomeView,
    Inbox,
    PermittedSnapshot,
    Press,
    list_error,
    offload_home,
)
from ...contract import ChannelError
from ..channel import SlackChannel
from ..ids import Body
from ..places import LABEL, NAME
from ..render import error_blocks, view_blocks

log = logging.getLogger(__name__)


class HomeTab:
    """A Home is sent only if it changed since the last time."""

    def __init__(self, homes: HomeLoader, inbox: Inbox, channel: SlackChannel) -> None:
        self._homes, self._inbox, self._channel = homes, inbox, channel

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.event("app_home_opened")(self.on_home_opened)
        app.action(re.compile("home_page:.*"))(self.on_page_button)

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
        who = await self._inbox.directory.load_reviewer(NAME, user_id, self._channel.team, user_id)
        home = await self._homes.load_home(who, shown.page if page is None else page, seen)
        view_content = await offload_home(home, lambda home: view_blocks(home, self._channel))
        view = {"type": "home", "blocks": view_content}
        sent = hashlib.sha256(json.dumps(view).encode()).hexdigest()
        if not force and shown.sent == sent:
            return
        await self._channel.publish_home(user_id, view)
        await self._homes.views.replace(_key(user_id), shown, HomeView(home.page, sent))

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


def _key(user_id: str) -> str:
    return f"{NAME}:{user_id}"
