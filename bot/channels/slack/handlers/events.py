"""Handles Slack's events: those about people, groups and conversations remove the cached look-ups about them;
those about the app let the bot check its token.

docs.slack.dev/reference/events
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from ....people import Lookups
from ..channel import SlackChannel

#: How often the bot's token is checked, and how often while that fails. In seconds.
TOKEN_INTERVAL, TOKEN_RETRY = 300.0, 30.0

Event = dict[str, Any]


class Events:
    """If there are several bots, only one of them gets an event. The caches of the others expire after
    `lookups.MAX_AGE`.
    """

    def __init__(self, lookups: Lookups, channel: SlackChannel) -> None:
        self._lookups, self._channel = lookups, channel
        self._check_token_now = asyncio.Event()

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.use(self.put_back_ids)
        app.event("user_change")(self.on_user_change)
        for name in ("subteam_updated", "subteam_members_changed"):
            app.event(name)(self.on_group_change)
        for name in ("member_joined_channel", "member_left_channel"):
            app.event(name)(self.on_members_change)
        for kind in ("channel", "group"):
            app.event(f"{kind}_rename")(self.on_rename)
            app.event(f"{kind}_archive")(self.on_archive)
        app.event("channel_id_changed")(self.on_new_id)
        for name in ("app_uninstalled", "tokens_revoked"):
            app.event(name)(self.on_token_change)

    async def put_back_ids(self, body: Event, next: Callable[[], Awaitable[Any]]) -> None:
        """Bolt's middleware for all requests: conversations have the ids by which we know them."""
        first = self._channel.moved.first
        container: Event = body.get("container") or {}
        if "channel_id" in container:
            container["channel_id"] = first(container["channel_id"])
        event: Event = body.get("event") or {}
        if isinstance(event.get("channel"), str):
            event["channel"] = first(event["channel"])
        await next()

    async def on_new_id(self, event: Event) -> None:
        old, new = str(event["old_channel_id"]), str(event["new_channel_id"])
        await self._channel.moved.record(old, new)
        self._lookups.forget_members(self._channel.moved.first(new))

    async def on_user_change(self, event: Event) -> None:
        self._lookups.forget_person(str(event["user"]["id"]))

    async def on_group_change(self, event: Event) -> None:
        group = event.get("subteam") or {"id": event["subteam_id"]}
        self._lookups.forget_group(str(group["id"]))
        if handle := group.get("handle"):
            self._channel.set_label(str(group["id"]), f"@{handle}")

    async def on_members_change(self, event: Event) -> None:
        self._lookups.forget_members(str(event["channel"]))

    async def on_rename(self, event: Event) -> None:
        self._channel.rename_channel(str(event["channel"]["id"]), str(event["channel"]["name"]))

    async def on_archive(self, event: Event) -> None:
        """Who is in it is looked up again."""
        self._lookups.forget_members(str(event["channel"]))

    async def on_token_change(self) -> None:
        self._check_token_now.set()

    async def watch_token(self) -> None:
        """Check the bot's token again and again: an idle bot calls nothing else. Runs until cancelled."""
        pause = TOKEN_INTERVAL
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._check_token_now.wait()
            self._check_token_now.clear()
            pause = TOKEN_INTERVAL if await self._channel.check_token() else TOKEN_RETRY
