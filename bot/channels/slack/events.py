"""What Slack tells of people, groups and conversations: what was believed of them is forgotten at once."""

from __future__ import annotations

from typing import Any

from bot.directory import Directory

Event = dict[str, Any]


class Events:
    """Of several bots only one hears of a change; the others believe what they know for `MAX_AGE` at most."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators carry no types."""
        app.event("user_change")(self.person)
        for name in ("subteam_updated", "subteam_members_changed"):
            app.event(name)(self.group)
        for name in ("member_joined_channel", "member_left_channel"):
            app.event(name)(self.members)

    async def person(self, event: Event) -> None:
        self._directory.person_changed(str(event["user"]["id"]))

    async def group(self, event: Event) -> None:
        group = event.get("subteam_id") or event["subteam"]["id"]
        self._directory.group_changed(str(group))

    async def members(self, event: Event) -> None:
        self._directory.members_changed(str(event["channel"]))
