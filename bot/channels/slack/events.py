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
            for change in ("rename", "archive"):
                app.event(f"{kind}_{change}")(self.conversation)

    async def person(self, event: Event) -> None:
        self._directory.person_changed(str(event["user"]["id"]))

    async def group(self, event: Event) -> None:
        group = event.get("subteam_id") or event["subteam"]["id"]
        self._directory.group_changed(str(group))

    async def members(self, event: Event) -> None:
        self._directory.members_changed(str(event["channel"]))

    async def conversation(self, event: Event) -> None:
        """Its name is another one, or it takes no messages any more."""
        found = event["channel"]  # an id, or with its new name
        self._channel.forget(found if isinstance(found, str) else str(found["id"]))
