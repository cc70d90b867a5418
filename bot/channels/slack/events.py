"""What Slack tells of people, groups and conversations: what was believed of them is forgotten at once.

docs.slack.dev/reference/events
"""

from __future__ import annotations

from typing import Any

from bot.channels.slack.channel import SlackChannel
from bot.directory import Directory

Event = dict[str, Any]


class Events:
    """Of several bots only one hears of a change; the others believe what they know for `MAX_AGE` at most."""

    def __init__(self, directory: Directory, channel: SlackChannel) -> None:
        self._directory, self._channel = directory, channel

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators carry no types."""
        app.event("user_change")(self.person)
        for name in ("subteam_updated", "subteam_members_changed"):
            app.event(name)(self.group)
        for name in ("member_joined_channel", "member_left_channel"):
            app.event(name)(self.members)
        for kind in ("channel", "group"):
            app.event(f"{kind}_rename")(self.renamed)
            app.event(f"{kind}_archive")(self.archived)

    async def person(self, event: Event) -> None:
        self._directory.person_changed(str(event["user"]["id"]))

    async def group(self, event: Event) -> None:
        group = event.get("subteam") or {"id": event["subteam_id"]}
        self._directory.group_changed(str(group["id"]))
        if handle := group.get("handle"):
            self._channel.name_somebody(str(group["id"]), f"@{handle}")

    async def members(self, event: Event) -> None:
        self._directory.members_changed(str(event["channel"]))

    async def renamed(self, event: Event) -> None:
        self._channel.name_channel(str(event["channel"]["id"]), str(event["channel"]["name"]))

    async def archived(self, event: Event) -> None:
        """Nobody is asked there any more: who may decide is looked up anew."""
        self._directory.members_changed(str(event["channel"]))
