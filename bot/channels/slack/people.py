"""Who people are, and what they belong to, as Slack knows it now."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal, cast

from bot.channel import Person, Undeliverable
from bot.channels.slack.api import Api
from bot.channels.slack.places import NAME
from bot.channels.slack.rooms import Rooms
from hitl_core.model import DEFAULT_PLACE


class People:
    """`team` is the bot's own workspace. What each method promises says `Channel`."""

    def __init__(self, api: Api, rooms: Rooms) -> None:
        self._api, self._rooms = api, rooms
        self.team = ""

    async def person(self, user_id: str) -> Person:
        user = (await self._api.call("users.info", user=user_id))["user"]
        # Of somebody who has left Slack tells little: the name stands in the profile alone.
        name = user.get("real_name") or user.get("profile", {}).get("real_name")
        name = str(name or user.get("name") or user_id)
        self._rooms.call(user_id, name)
        return Person(user_id, name, _kind(user, self.team), not user.get("deleted"))

    async def group(self, group_id: str) -> frozenset[str]:
        found = await self._api.call("usergroups.users.list", usergroup=group_id)
        return frozenset(map(str, found["users"]))

    async def members(self, conversation: str) -> frozenset[str]:
        found = self._api.paged(
            "conversations.members", "members", channel=conversation, limit=1000
        )
        return frozenset([cast(str, member) async for member in found])

    async def audiences(self, person_id: str) -> frozenset[str]:
        found = {f"user:{person_id}", f"place:{NAME}:{person_id}"}
        with suppress(Undeliverable):  # a workspace without groups
            groups = await self._api.call("usergroups.list", include_users=True)
            for group in groups["usergroups"]:
                if person_id in group.get("users", ()):
                    found |= {f"group:{group['id']}", f"place:{NAME}:{group['id']}"}
        async for channel in self._api.paged(
            "users.conversations",
            "channels",
            user=person_id,
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=999,
        ):
            targets = {channel["id"], f"#{channel['name']}"}
            found |= {f"place:{NAME}:{target}" for target in targets}
            if self._rooms.default in targets:
                found.add(f"place:{DEFAULT_PLACE}")
        return frozenset(found)


def _kind(user: dict[str, Any], team: str) -> Literal["member", "guest", "stranger", "bot"]:
    """As users.info tells it (docs.slack.dev/reference/objects/user-object)."""
    if user.get("is_bot") or user.get("is_workflow_bot"):
        return "bot"
    if user.get("is_stranger") or user.get("team_id") != team:
        return "stranger"
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return "guest"
    return "member"
