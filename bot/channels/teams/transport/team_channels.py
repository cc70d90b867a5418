"""The teams in which the app is installed, with the group in Entra of each, and their channels' names."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import NamedTuple

from ...answers import read_field, read_list
from ...contract import ChannelError, LookupFailed, NotFound, RateLimited, Unreachable
from ..places import Address, is_channel
from .api import Api
from .errors import NO_CONVERSATION, Data
from .references import References

#: The seconds for which the list of channels is used, and the fewest between look-ups, also after a failure.
_MAX_AGE = 600.0
_RETRY_AFTER = 2.0
#: The longest pause between two look-ups while Teams gives no answer, in seconds.
_MAX_PAUSE = 30.0
#: How long a drawing waits for the names of a new team, in seconds; and how many teams are looked up at once.
_PATIENCE = 0.5
_AT_ONCE = 8


class Team(NamedTuple):
    """`id`: the id of its channel General. `group`: its group in Entra."""

    id: str
    group: str
    name: str


class ChannelInfo(NamedTuple):
    """A channel of a team in which the app is installed. `is_standard`: its members are those of the team."""

    id: str
    name: str
    team: Team
    is_standard: bool

    @property
    def names(self) -> frozenset[str]:
        """The names by which a place may call the channel: its own and, for General, also the team's."""
        own = {self.name} if self.name else set[str]()
        return frozenset(own | {self.team.name}) if self.id == self.team.id else frozenset(own)

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.team.name if self.id == self.team.id else f"{self.team.name} > {self.name}"


@dataclass
class _Known:
    """What is known about one team. After a failure the channels of the last success are kept."""

    channels: tuple[ChannelInfo, ...] = ()
    listed_at: float = float("-inf")
    failure: ChannelError | None = None
    failures: int = 0
    failed_at: float = float("-inf")

    @property
    def is_known(self) -> bool:
        """Whether a look-up has succeeded. A refusal doesn't count, because Teams has also answered 403 by
        mistake: see github.com/MicrosoftDocs/msteams-docs/issues/10741.
        """
        return self.listed_at != float("-inf")

    def is_due(self, max_age: float, expired_at: float) -> bool:
        """Whether to look the team up now. After a failure the next look-up waits, longer each time."""
        now = time.monotonic()
        if self.failure is not None:
            most = _MAX_PAUSE if _is_outage(self.failure) else _MAX_AGE
            return now - self.failed_at >= min(_RETRY_AFTER * 2 ** min(self.failures, 9), most)
        return self.listed_at <= expired_at or now - self.listed_at >= max_age


class TeamChannels:
    """Each team is looked up separately: a team that fails keeps its last known names, and doesn't stop the
    others. The async methods raise ChannelErrors. Private channels are not included: Teams lists none.
    """

    def __init__(self, api: Api, references: References) -> None:
        self._api, self._references = api, references
        self._teams: dict[str, _Known] = {}
        self._channels: dict[str, ChannelInfo] = {}
        self._lock = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None
        self._refreshing_since = 0.0
        #: When Teams reported a change of a team.
        self._expired_at: dict[str, float] = {}

    def get(self, id: str) -> ChannelInfo | None:
        """The channel, if it is already known; otherwise None."""
        return self._channels.get(id)

    def team_of(self, id: str) -> Team | None:
        """The team of a channel, if it is already known. Teams lists no private channels."""
        known = self._references.get(id)
        channel = self._channels.get(id) or self._channels.get(known.team if known else "")
        return channel.team if channel else None

    def unknown(self) -> int:
        """How many teams failed in every look-up, or can't be read. Their reviews are in nobody's list."""
        failed = sum(one.failure is not None and not one.channels for one in self._teams.values())
        return failed + len(self._references.unreadable)

    def expire(self, team: str) -> None:
        """Mark a team's names as old, because Teams reported a change: they are looked up when needed."""
        self._expired_at[team] = time.monotonic()

    async def refresh_soon(self) -> None:
        """For drawing. Looks old names up in the background, and waits only for a new team, for a moment."""
        await self._references.refresh()
        now = time.monotonic()
        if self._refreshing is None or self._refreshing.done():
            if not self._due(_MAX_AGE):
                return
            self._refreshing = asyncio.create_task(self._load(_MAX_AGE))
            self._refreshing_since = now
        left = self._refreshing_since + _PATIENCE - now
        if left > 0 and not self._teams.keys() >= self._references.teams():
            await asyncio.wait({self._refreshing}, timeout=left)

    async def close(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)

    async def all(self) -> list[ChannelInfo]:
        """All channels. They are loaded again at once if the app was installed in another team, or removed
        from one. For a team that can't be looked up now, its last known channels. Raises the failure if
        nothing at all is known.
        """
        await self._references.refresh()
        await self._load(_MAX_AGE)
        failures = [one.failure for one in self._teams.values() if one.failure]
        if failures and len(failures) == len(self._teams) and not self._channels:
            raise failures[0].with_traceback(None)
        return list(self._channels.values())

    async def find_team(self, id: str) -> Team | None:
        """The team of a channel; None if there is none for the bot. Raises the failure of one that may have
        it.
        """
        await self.all()
        if self.team_of(id) is None:
            await self._references.refresh(now=is_channel(id))  # another bot may know its team
            await self._load(_RETRY_AFTER)
        failures = [one.failure for one in self._teams.values() if one.failure]
        if failures and self.team_of(id) is None:
            raise failures[0].with_traceback(None)
        return self.team_of(id)

    async def find_by_name(self, name: str) -> list[str]:
        """The ids of the channels that a place may call by this name now, in the teams that `find_pin` has
        just loaded. Raises the failure of a team that may also have the name: a team for which Teams gives no
        answer now, or about which nothing is known yet. Otherwise the name could lead to another team, and
        stay there. A known team for which Teams refuses an answer counts with its last names.
        """
        if self._references.unreadable:
            raise LookupFailed(f"a conversation that can't be read may have the name {name} too")
        await self._load(0.0 if len(self._ids_of(name)) == 1 else _RETRY_AFTER)
        for id, one in self._teams.items():
            if one.failure is not None and _is_outage(one.failure):
                raise one.failure.with_traceback(None)
            if one.failure is not None and not one.is_known:
                text = (
                    f"the team {id} may have the name {name} too, and Teams gives no answer about it"
                    f" ({one.failure}): name the channel by its id, or remove the app from that team"
                )
                self._api.health.report("lookup", _subject(id), f"A place is not known: {text}.")
                raise LookupFailed(text)
        return self._ids_of(name)

    def _ids_of(self, name: str) -> list[str]:
        return [one.id for one in self._channels.values() if name in one.names]

    def _due(self, max_age: float) -> list[str]:
        """The teams to look up now."""
        known = {id: self._teams.get(id) or _Known() for id in self._references.teams()}
        expired_at = self._expired_at
        return [id for id, one in known.items() if one.is_due(max_age, expired_at.get(id, 0.0))]

    async def _load(self, max_age: float) -> None:
        """Look up the teams whose names are older; one load at a time. Never raises ChannelErrors."""
        async with self._lock:
            teams = self._references.teams()
            self._teams = {id: one for id, one in self._teams.items() if id in teams}
            slots = asyncio.Semaphore(_AT_ONCE)

            async def load(id: str) -> None:
                async with slots:
                    await self._load_team(id)

            await asyncio.gather(*map(load, self._due(max_age)))
            every = [one for team in self._teams.values() for one in team.channels]
            self._channels = {one.id: one for one in every}

    async def _load_team(self, id: str) -> None:
        known, began = self._teams.setdefault(id, _Known()), time.monotonic()
        try:
            channels = await self._references.use(Address(id), lambda url: self._look_up(id, url))
        except NotFound:  # the app was removed from this team
            channels = ()
        except ChannelError as error:
            known.failure, known.failed_at = error, time.monotonic()
            known.failures += 1
            return
        self._teams[id] = _Known(channels, began)
        self._api.health.resolve("lookup", _subject(id))

    async def _look_up(self, id: str, url: str) -> tuple[ChannelInfo, ...]:
        info = await self._api.look_up(
            self._api.connector("GET", url, "teams", id, about=id), _read_team, NO_CONVERSATION
        )
        return await self._api.look_up(
            self._api.connector("GET", url, "teams", id, "conversations", about=id),
            lambda data: tuple(
                _read_channel(one, info) for one in read_list(data, "conversations")
            ),
            NO_CONVERSATION,
        )


def _subject(team: str) -> str:
    return f"names of {team}"


def _is_outage(failure: ChannelError) -> bool:
    """Whether it may work again in a moment; otherwise Teams refused to answer."""
    return isinstance(failure, Unreachable | RateLimited)


def _read_team(data: Data) -> Team:
    return Team(
        read_field(data, "id", str),
        read_field(data, "aadGroupId", str).lower(),
        read_field(data, "name", str),
    )


def _read_channel(data: Data, team: Team) -> ChannelInfo:
    """One channel. General has no name, because people see it in their own language."""
    id = read_field(data, "id", str)
    name = data.get("name") or ("General" if id == team.id else "")
    return ChannelInfo(id, str(name), team, data.get("type") in (None, "standard"))
