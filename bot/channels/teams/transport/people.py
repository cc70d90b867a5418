"""Looks up people, groups and memberships: people and groups in Graph, members of conversations in Teams."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from hitl_core.model import DEFAULT_PLACE, is_guid, person_label

from ...answers import NoAnswer, read_field
from ...contract import ChannelError, NotFound, Person
from ..places import GROUP, group_guid, place_of
from .api import Api, Request, read_guid
from .conversations import Conversations
from .errors import Data
from .references import References
from .tokens import Credentials

#: With these errors it is certain that the thing does not exist (learn.microsoft.com/graph/errors). With any
#: other error that is unknown.
_NOBODY = {"Request_ResourceNotFound": "there is no such person"}
_NO_GROUP = {"Request_ResourceNotFound": "there is no such group"}
_USERS, _GROUPS = "User.Read.All", "GroupMember.Read.All"
#: To an app without the permission Member.Read.Hidden, Graph shows a group with this visibility as empty
#: (learn.microsoft.com/graph/api/group-list-transitivemembers).
_HIDDEN_MEMBERS = "HiddenMembership"
#: What Entra calls the people of the tenant, and its guests.
_KINDS: dict[object, Literal["member", "guest"]] = {"Member": "member", "Guest": "guest"}
#: How many conversations are looked up for one person at the same time.
_AT_ONCE = 8


class PeopleLookup(Conversations):
    """Looks up people and groups too. `Channel` documents the methods."""

    def __init__(
        self, api: Api, references: References, credentials: Credentials, default: str
    ) -> None:
        super().__init__(api, references, credentials, default)
        #: By person, in how many conversations Teams gave no answer about them.
        self._unknown: dict[str, int] = {}

    def unknown_to(self, person_id: str) -> int:
        """How many teams and chats could not be looked up for this person. Their list may lack reviews."""
        return self.team_channels.unknown() + self._unknown.get(person_id, 0)

    async def person(self, user_id: str) -> Person | None:
        if not is_guid(user_id):
            return None
        fields = "$select=id,displayName,userType,accountEnabled"
        request = self._api.graph("users", user_id, query=fields, needed=_USERS, about=user_id)
        try:
            person = await self._api.look_up(request, lambda user: _person(user_id, user), _NOBODY)
        except NotFound:
            return None
        self.set_label(user_id, person_label(person.name, user_id))
        return person

    async def group_members(self, group_id: str) -> frozenset[str]:
        """The members, also those of groups inside the group."""
        if (guid := group_guid(group_id)) is None:
            return frozenset()
        try:
            members = await self._api.look_up_all(
                self._group_request("groups", guid, "transitiveMembers"),
                "value",
                lambda one: _typed_id(one, "user"),
                absent_errors=_NO_GROUP,
            )
            users = frozenset(filter(None, members))
            if not users:
                await self._check_members_are_visible(guid)
        except NotFound:
            return frozenset()
        await self._load_group_name(guid)
        return users

    async def conversation_members(self, conversation: str) -> frozenset[str]:
        await self.references.refresh()
        members = await self._members(conversation)
        return frozenset(id for id in members if id is not None)

    async def audiences(self, person_id: str) -> frozenset[str]:
        targets = {person_id}
        groups = await self._groups_of(person_id)
        for conversation, names in (await self._conversations_of(person_id, groups)).items():
            targets |= {conversation, *names}
        named = {f"{GROUP}{group}" for group in groups}
        audiences = {f"place:{place_of(target)}" for target in targets | named}
        audiences |= {f"group:{place_of(group)}" for group in named}
        if self.default in targets:
            audiences.add(f"place:{DEFAULT_PLACE}")
        return frozenset({f"user:{place_of(person_id)}", *audiences})

    async def _groups_of(self, person: str) -> frozenset[str]:
        """The GUIDs of the person's groups, also those of teams."""
        if not is_guid(person):
            return frozenset()
        request = self._group_request("users", person, "transitiveMemberOf")
        with suppress(NotFound):
            found = await self._api.look_up_all(
                request, "value", lambda one: _typed_id(one, "group"), absent_errors=_NOBODY
            )
            return frozenset(filter(None, found))
        return frozenset()

    async def _conversations_of(
        self, person: str, groups: frozenset[str]
    ) -> dict[str, frozenset[str]]:
        """The conversations that have both this person and the app, each with the names by which a place may
        call it. A conversation that can't be looked up is left out and counted, so that the list still works.
        """
        channels = await self.team_channels.all()
        # Teams lists no private channels.
        known = [one.id for one in self.references.all() if one.kind != "personal"]
        standard = {one.id for one in channels if one.is_standard}
        asked = {*known, *(one.id for one in channels)} - standard
        slots = asyncio.Semaphore(_AT_ONCE)

        async def ask(conversation: str) -> bool | None:
            async with slots:
                try:
                    return await self.is_member(conversation, person)
                except ChannelError:  # reported by the look-up
                    return None

        yes = await asyncio.gather(*map(ask, asked))
        self._unknown[person] = yes.count(None)
        found = {id: frozenset[str]() for id, is_in in zip(asked, yes, strict=True) if is_in}
        for one in channels:
            if one.id in found or (one.is_standard and one.team.group in groups):
                found[one.id] = one.names
        return {id: names | self.references.pins_of(id) for id, names in found.items()}

    async def _check_members_are_visible(self, guid: str) -> None:
        """For a group that looks empty. Raises LookupFailed if Graph may hide its members."""

        def read(group: Data) -> None:
            if group["visibility"] == _HIDDEN_MEMBERS:
                raise NoAnswer(
                    "its members are hidden; an administrator must grant the app Member.Read.Hidden"
                )

        request = self._api.graph(
            "groups", guid, query="$select=id,visibility", needed=_GROUPS, about=guid
        )
        await self._api.look_up(request, read, _NO_GROUP)

    async def _load_group_name(self, guid: str) -> None:
        """Load the name. It is only displayed, so a failure doesn't stop the look-up of the members."""
        request = self._api.graph(
            "groups", guid, query="$select=displayName", needed=_GROUPS, about=guid
        )
        with suppress(ChannelError):
            name = await self._api.look_up(request, lambda one: read_field(one, "displayName", str))
            self.set_label(f"{GROUP}{guid}", person_label(name, guid))

    def _group_request(self, *path: str) -> Request:
        return self._api.graph(*path, query="$select=id&$top=999", needed=_GROUPS, about=path[1])


def _person(user_id: str, user: Data) -> Person:
    """Raises ValueError if it is missing whether they are deactivated, and NoAnswer if they are neither a
    member nor a guest: Entra has no type for some users, for example those from before there were types.
    """
    if (kind := _KINDS.get(user.get("userType"))) is None:
        raise NoAnswer(
            "Entra does not say whether they are a member or a guest; an administrator must set their user"
            " type"
        )
    name = str(user.get("displayName") or "")
    return Person(user_id, name, kind, read_field(user, "accountEnabled", bool))


def _typed_id(item: Data, kind: str) -> str | None:
    """The id of an item of this kind; None for other kinds. Raises ValueError if it is not an id."""
    if read_field(item, "@odata.type", str) != f"#microsoft.graph.{kind}":
        return None
    return read_guid(item.get("id"))
