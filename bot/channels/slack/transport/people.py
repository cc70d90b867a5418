"""Looks up people, groups and memberships in Slack."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal

from hitl_core.model import DEFAULT_PLACE, person_label

from ...answers import Data, read_field, read_list, read_object
from ...contract import NotFound, Person
from ..places import NAME
from .api import Api, Request
from .conversations import Conversations

#: With these errors it is certain that the thing does not exist (docs.slack.dev/reference/methods). With any
#: other error that is unknown. `plan_upgrade_required` only counts for the list of groups: the groups come
#: back when the workspace pays again.
_NOBODY = {"user_not_found": "there is no such person"}
_NO_GROUP = {"no_such_subteam": "there is no such group"}
_NO_GROUPS = {"plan_upgrade_required": "this workspace has no groups"}


#: Slack's own bot, which Slack describes as a person (docs.slack.dev/reference/objects/user-object).
_SLACKBOT = "USLACKBOT"


class PeopleLookup(Conversations):
    """Looks up people and groups too. `team` is the bot's own workspace. `Channel` documents the methods."""

    def __init__(self, api: Api, default: str) -> None:
        super().__init__(api, default)
        self.team = ""

    async def person(self, user_id: str) -> Person | None:
        try:
            person = await self._api.look_up(
                Request("users.info", {"user": user_id}, about=user_id),
                lambda answer: _person(user_id, read_object(answer, "user"), self.team),
                _NOBODY,
            )
        except NotFound:
            return None
        self.set_label(user_id, person_label(person.name, user_id))
        return person

    async def group_members(self, group_id: str) -> frozenset[str]:
        try:
            return await self._api.look_up(
                Request("usergroups.users.list", {"usergroup": group_id}, about=group_id),
                lambda answer: frozenset(map(_read_id, read_list(answer, "users"))),
                _NO_GROUP,
            )
        except NotFound:
            return frozenset()

    async def conversation_members(self, conversation: str) -> frozenset[str]:
        args = {"channel": conversation, "limit": 1000}
        return frozenset(
            await self._api.look_up_all(
                Request("conversations.members", args, about=conversation),
                "members",
                _read_id,
                is_never_empty=True,  # without people, the bot is still in it
            )
        )

    async def audiences(self, person_id: str) -> frozenset[str]:
        audiences = {f"user:{person_id}", f"place:{NAME}:{person_id}"}
        with suppress(NotFound):
            for group in await self._api.look_up(
                Request("usergroups.list", {"include_users": True}),
                lambda answer: _group_ids_of(person_id, read_list(answer, "usergroups")),
                _NO_GROUPS,
            ):
                audiences |= {f"group:{group}", f"place:{NAME}:{group}"}
        # Also archived ones: nobody can press a button there, so their members need their Home.
        args = {"user": person_id, "types": "public_channel,private_channel", "limit": 999}
        request = Request("users.conversations", args, about=person_id)
        for known in await self._api.look_up_all(request, "channels", _targets):
            targets = known | {self._api.moved.first(one) for one in known}
            audiences |= {f"place:{NAME}:{target}" for target in targets}
            if self.default in targets:
                audiences.add(f"place:{DEFAULT_PLACE}")
        return frozenset(audiences)


def _person(user_id: str, user: Data, team: str) -> Person:
    """Raises ValueError if a field is missing that decides whether this is a bot, a guest or a deactivated
    person.
    """
    # For a deactivated person the name is only in the profile.
    profile: Data = user.get("profile") or {}
    name = user.get("real_name") or profile.get("real_name") or user.get("name")
    return Person(
        user_id,
        str(name or ""),
        _kind(user_id, user, team),
        not read_field(user, "deleted", bool),
        _grid_teams(user),
    )


def _grid_teams(user: Data) -> frozenset[str]:
    """The workspaces of a person of an Enterprise Grid organization, and the organization, because a click
    may name it too (https://github.com/slackapi/bolt-js/issues/1875); empty for any other person
    (docs.slack.dev/reference/objects/user-object#enterprise-grid-user-objects).
    """
    known: Data = user.get("enterprise_user") or {}
    teams = frozenset(map(_read_id, known.get("teams") or ()))
    return teams | {_read_id(known["enterprise_id"])} if teams else teams


def _kind(user_id: str, user: Data, team: str) -> Literal["member", "guest", "external", "bot"]:
    """The kind of a users.info answer (docs.slack.dev/reference/objects/user-object)."""
    is_bot = read_field(user, "is_bot", bool) or user.get("is_workflow_bot")
    if is_bot or user_id == _SLACKBOT:
        return "bot"
    # A person of several workspaces has the `team_id` of any of them, or none
    # (https://github.com/looker/lookerbot/issues/184).
    teams = _grid_teams(user)
    if not teams or "team_id" in user:
        teams |= {read_field(user, "team_id", str)}
    if user.get("is_stranger") or team not in teams:
        return "external"
    if user["deleted"]:  # Slack sends no more fields, and they don't matter
        return "member"
    if read_field(user, "is_restricted", bool) or read_field(user, "is_ultra_restricted", bool):
        return "guest"
    return "member"


def _targets(channel: Data) -> set[str]:
    """The targets by which a place may name this channel: its id, and its names until now. They only find
    reviews that may wait for its members. The cards decide, because another channel may have an earlier name
    now.
    """
    names = {read_field(channel, "name", str), *map(str, channel.get("previous_names") or ())}
    return {read_field(channel, "id", str), *(f"#{name}" for name in names)}


def _group_ids_of(person_id: str, groups: list[Any]) -> list[str]:
    return [str(group["id"]) for group in groups if person_id in read_list(group, "users")]


def _read_id(value: Any) -> str:
    """The value as an id. Raises ValueError if it is none."""
    if not isinstance(value, str) or not value:
        raise ValueError("no id")
    return value
