"""Handles Slack's events about people, groups and conversations: removes the cached look-ups about them.

docs.slack.dev/reference/events
"""

from __future__ import annotations

from typing import Any

from ....people import Lookups
from ..channel import SlackChannel

Event = dict[str, Any]


class Events:
    """If there are several bots, only one of them gets an event. The caches of the others expire after
    `lookups.MAX_AGE`.
    """

    def __init__(self, lookups: Lookups, channel: SlackChannel) -> None:
        self._lookups, self._channel = lookups, channel

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.event("user_change")(self.on_user_change)
        for name in ("subteam_updated", "subteam_members_changed"):
            app.event(name)(self.on_group_change)
        for name in ("member_joined_channel", "member_left_channel"):
            app.event(name)(self.on_members_change)
        for kind in ("channel", "group"):
            app.event(f"{kind}_rename")(self.on_rename)
            app.event(f"{kind}_archive")(self.on_archive)

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
        """An archived conversation has no deciders, so its members are looked up again."""
        self._lookups.forget_members(str(event["channel"]))
