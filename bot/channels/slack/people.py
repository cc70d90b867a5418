"""Who people are, and what they belong to, as Slack knows it now."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal

from bot.channel import NotThere, Person
from bot.channels.slack.api import Api, Data, list_in, object_in, typed
from bot.channels.slack.places import NAME
from bot.channels.slack.rooms import Rooms
from hitl_core.model import DEFAULT_PLACE, label

#: What Slack answers where it is sure (docs.slack.dev/reference/methods): every other error, known or new,
#: leaves it unknown. A workspace whose plan has no groups has them again when it is paid.
_NOBODY = {"user_not_found": "there is no such person"}
_NO_GROUP = {"no_such_subteam": "there is no such group"}
_NO_GROUPS = {"plan_upgrade_required": "this workspace has no groups"}


class People:
    """`team` is the bot's own workspace. What each method promises says `Channel`."""

    def __init__(self, api: Api, rooms: Rooms) -> None:
        self._api, self._rooms = api, rooms
        self.team = ""

    async def person(self, user_id: str) -> Person | None:
        try:
            person = await self._api.look(
                "users.info",
                lambda answer: _person(user_id, object_in(answer, "user"), self.team),
                no=_NOBODY,
                about=user_id,
                user=user_id,
            )
        except NotThere:
            return None
        self._rooms.name_somebody(user_id, label(person.name, user_id))
        return person

    async def group(self, group_id: str) -> frozenset[str]:
        try:
            return await self._api.look(
                "usergroups.users.list",
                lambda answer: frozenset(map(_id, list_in(answer, "users"))),
                no=_NO_GROUP,
                about=group_id,
                usergroup=group_id,
            )
        except NotThere:
            return frozenset()

    async def members(self, conversation: str) -> frozenset[str]:
        return frozenset(
            await self._api.look_through(
                "conversations.members",
                "members",
                _id,
                about=conversation,
                channel=conversation,
                limit=1000,
            )
        )

    async def audiences(self, person_id: str) -> frozenset[str]:
        found = {f"user:{person_id}", f"place:{NAME}:{person_id}"}
        with suppress(NotThere):
            for group in await self._api.look(
                "usergroups.list",
                lambda answer: _groups_of(person_id, list_in(answer, "usergroups")),
                no=_NO_GROUPS,
                include_users=True,
            ):
                found |= {f"group:{group}", f"place:{NAME}:{group}"}
        for targets in await self._api.look_through(
            "users.conversations",
            "channels",
            lambda one: {typed(one, "id", str), f"#{typed(one, 'name', str)}"},
            about=person_id,
            user=person_id,
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=999,
        ):
            found |= {f"place:{NAME}:{target}" for target in targets}
            if self._rooms.default in targets:
                found.add(f"place:{DEFAULT_PLACE}")
        return frozenset(found)


def _person(user_id: str, user: Data, team: str) -> Person:
    """Raises ValueError where it is not told what decides: whether this is a bot, a guest, or has left."""
    # Of somebody who has left Slack tells little: the name stands in the profile alone.
    profile: Data = user.get("profile") or {}
    name = user.get("real_name") or profile.get("real_name") or user.get("name")
    return Person(
        user_id,
        str(name or ""),
        _kind(user, team),
        not typed(user, "deleted", bool),
    )


def _kind(user: Data, team: str) -> Literal["member", "guest", "stranger", "bot"]:
    """As users.info tells it (docs.slack.dev/reference/objects/user-object)."""
    if typed(user, "is_bot", bool) or user.get("is_workflow_bot"):
        return "bot"
    if user.get("is_stranger") or typed(user, "team_id", str) != team:
        return "stranger"
    if user["deleted"]:  # nothing more is told, and nothing more matters
        return "member"
    if typed(user, "is_restricted", bool) or typed(user, "is_ultra_restricted", bool):
        return "guest"
    return "member"


def _groups_of(person_id: str, groups: list[Any]) -> list[str]:
    return [str(group["id"]) for group in groups if person_id in list_in(group, "users")]


def _id(found: Any) -> str:
    """Raises ValueError where it is none."""
    if not isinstance(found, str) or not found:
        raise ValueError("no id")
    return found
