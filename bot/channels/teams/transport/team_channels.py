"""The teams in which the app is installed, and their channels: names, and which group in Entra a team is."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from ...contract import ChannelError, NotFound
from .api import Api, read_field, read_list
from .errors import NO_PLACE, Data
from .references import References

#: How long the list of channels is used, and the shortest time between two look-ups (also if the first one
#: failed), in seconds.
_MAX_AGE = 600.0
_RETRY_AFTER = 2.0
#: Errors which mean that the conversation surely does not exist for the bot.
NO_CONVERSATION = {
    code: why
    for (_, code), why in NO_PLACE.items()
    if code in ("BotNotInConversationRoster", "ConversationNotFound")
}


class Team(NamedTuple):
    """`id` is that of its channel General, `group` its group in Entra."""

    id: str
    group: str
    name: str


class ChannelInfo(NamedTuple):
    """A channel of a team in which the app is installed. `is_standard`: its members are the team's."""

    id: str
    name: str
    team: Team
    is_standard: bool

    @property
    def names(self) -> frozenset[str]:
        """What a place may call it: its own name and, of General, also the team's."""
        own = {self.name} if self.name else set[str]()
        return frozenset(own | {self.team.name}) if self.id == self.team.id else frozenset(own)

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.team.name if self.id == self.team.id else f"{self.team.name} > {self.name}"


class TeamChannels:
    """The async methods raise ChannelErrors. Private channels are not in it: bots can't be there."""

    def __init__(self, api: Api, references: References) -> None:
        self._api, self._references = api, references
        self._channels: dict[str, ChannelInfo] = {}
        self._teams = frozenset[str]()
        self._listed_at = float("-inf")
        self._lock = asyncio.Lock()
        self._failure: ChannelError | None = None
        self._failed_at = float("-inf")

    def get(self, id: str) -> ChannelInfo | None:
        """As far as it is known already."""
        return self._channels.get(id)

    async def all(self) -> list[ChannelInfo]:
        """Loaded again at once when the app was installed in another team, or removed from one."""
        await self._references.refresh()
        async with self._lock:
            is_old = time.monotonic() - self._listed_at > _MAX_AGE
            if is_old or self._teams != self._references.teams().keys():
                await self._load()
        return list(self._channels.values())

    async def find(self, id: str) -> ChannelInfo | None:
        """None for chats, and for channels that the bot does not see."""
        await self.all()
        async with self._lock:
            if id not in self._channels and self._may_load_again():
                await self._load()
        return self._channels.get(id)

    async def find_by_name(self, name: str) -> list[str]:
        """The ids of the channels that a place may call so."""
        await self.all()
        async with self._lock:
            if len(self._ids_of(name)) != 1 and self._may_load_again():
                await self._load()
        return self._ids_of(name)

    def _may_load_again(self) -> bool:
        return time.monotonic() - self._listed_at > _RETRY_AFTER

    def _ids_of(self, name: str) -> list[str]:
        return [one.id for one in self._channels.values() if name in one.names]

    async def _load(self) -> None:
        """Load the names of all teams and channels. Just after a failure, that failure is the answer."""
        if self._failure and time.monotonic() - self._failed_at < _RETRY_AFTER:
            raise self._failure.with_traceback(None)
        try:
            await self._load_now()
        except ChannelError as error:
            self._failure, self._failed_at = error, time.monotonic()
            raise
        self._failure = None

    async def _load_now(self) -> None:
        channels, teams = dict[str, ChannelInfo](), self._references.teams()
        for team, url in teams.items():
            try:
                info = await self._api.look_up(
                    self._api.connector("GET", url, "teams", team, about=team),
                    _read_team,
                    NO_CONVERSATION,
                )
                found = await self._api.look_up(
                    self._api.connector("GET", url, "teams", team, "conversations", about=team),
                    lambda data, info=info: [
                        _read_channel(one, info) for one in read_list(data, "conversations")
                    ],
                    NO_CONVERSATION,
                )
            except NotFound:  # the app was removed from this team
                continue
            channels |= {one.id: one for one in found}
        self._channels, self._teams = channels, frozenset(teams)
        self._listed_at = time.monotonic()


def _read_team(data: Data) -> Team:
    return Team(
        read_field(data, "id", str),
        read_field(data, "aadGroupId", str).lower(),
        read_field(data, "name", str),
    )


def _read_channel(data: Data, team: Team) -> ChannelInfo:
    """General has no name: people see it in their own language."""
    id = read_field(data, "id", str)
    name = data.get("name") or ("General" if id == team.id else "")
    return ChannelInfo(id, str(name), team, data.get("type") in (None, "standard"))
