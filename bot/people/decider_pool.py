"""The people who may decide by given grants: their names, and whether enough of them are left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from hitl_core.model import Grant, Place, Snapshot, person_key, person_label, split_id
from hitl_core.sentences import join_names

from ..channels.contract import ChannelError, NotFound, RateLimited, Unreachable
from ..channels.registry import Channels
from .humans import People
from .lookups import Lookups

#: `too_few`: somebody is left, but fewer people than must agree.
DecidersLeft = Literal["enough", "too_few", "nobody"]


class _Source(NamedTuple):
    """Some people of one channel, by id, and the check whether one of them may decide."""

    lookups: Lookups
    load_ids: Callable[[], Awaitable[Iterable[str]]]
    may_decide: Callable[[str], Awaitable[bool]]


class DeciderPool:
    """`people`: which identities are one human, who counts only once."""

    def __init__(self, channels: Channels, people: People | None = None) -> None:
        self._channels, self._people = channels, people or People()
        self._lookups = {channel.name: Lookups(channel) for channel in channels}

    def lookups(self, channel: str) -> Lookups:
        """The look-ups of a configured channel, by its name."""
        return self._lookups[channel]

    async def deciders_left(
        self,
        grants: Iterable[Grant],
        snapshot: Snapshot,
        quorum: int = 1,
        excluded: Collection[str] = (),
        lost: Place | None = None,
    ) -> DecidersLeft:
        """Whether `quorum` people who may decide are left, without those with the `excluded` keys.

        `lost` is a place that can't be reached: its members don't count. That there are too few is looked up
        again if it comes from the cache, because other people may decide then. Raises ChannelError if there
        are too few and some look-ups failed.
        """
        given = tuple(grants), snapshot, quorum, excluded, lost
        left = await self._count_deciders(self._lookups, *given)
        if left == "enough":
            return left
        fresh = {name: lookups.fresh for name, lookups in self._lookups.items()}
        return await self._count_deciders(fresh, *given)

    async def _count_deciders(
        self,
        by_channel: Mapping[str, Lookups],
        grants: Sequence[Grant],
        snapshot: Snapshot,
        quorum: int,
        excluded: Collection[str],
        lost: Place | None,
    ) -> DecidersLeft:
        humans, unknown = set[frozenset[str]](), None
        for lookups, load_ids, may_decide in self._sources(by_channel, grants, snapshot, lost):
            try:
                ids = await load_ids()
            except NotFound:  # no decider can be reached there
                continue
            except ChannelError as error:
                unknown = unknown or error
                continue
            for id in sorted(ids):  # always the same order, so that the first ones are in the cache
                try:
                    if await may_decide(id):
                        humans.add(self._people.keys_of(f"{lookups.channel.name}:{id}"))
                except (RateLimited, Unreachable) as error:  # as it would be for the others
                    unknown = unknown or error
                    break
                except ChannelError as error:
                    unknown = unknown or error
                if sum(keys.isdisjoint(excluded) for keys in humans) >= quorum:
                    return "enough"
        if unknown is not None:
            raise unknown
        return "too_few" if humans else "nobody"

    async def format_deciders(self, grants: Iterable[Grant]) -> str:
        """The names of those who may decide: "Ann, @finance or members of #team-ops"."""
        names: list[str] = []
        for grant in grants:
            names += [await self._user_label(user) for user in grant.reviewers.users]
            for group in grant.reviewers.groups:
                names.append(self._channels.name_of(Place(person_key(group))))
            if grant.includes_members:
                names += [self._place_label(place) for place in grant.places]
        return join_names(dict.fromkeys(names), "or", most=len(names))

    def _sources(
        self,
        by_channel: Mapping[str, Lookups],
        grants: Sequence[Grant],
        snapshot: Snapshot,
        lost: Place | None,
    ) -> Iterator[_Source]:
        """The people of these grants. Named people come first, because they need the fewest look-ups. People
        of a channel that the bot doesn't have are left out.
        """
        users = [split_id(user) for grant in grants for user in grant.reviewers.users]
        groups = [split_id(group) for grant in grants for group in grant.reviewers.groups]
        places = [place for grant in grants if grant.includes_members for place in grant.places]
        for name, lookups in by_channel.items():
            if named := [id for channel, id in users if channel == name]:
                yield _Source(lookups, partial(_return, named), lookups.is_active)
        for channel, id in dict.fromkeys(groups):
            if (lookups := by_channel.get(channel)) is not None:
                yield _Source(lookups, partial(lookups.group_members, id), lookups.is_member)
        for place in dict.fromkeys(places):
            channel = self._channels.find(place)
            if place != lost and channel is not None:
                lookups = by_channel[channel.name]
                yield _Source(
                    lookups, partial(lookups.place_members, place, snapshot), lookups.is_member
                )

    async def _user_label(self, user: str) -> str:
        channel, id = split_id(user)
        try:
            lookups = self._lookups.get(channel)
            person = await lookups.person(id) if lookups else None
        except ChannelError:
            person = None
        return person_label(person.name, id) if person else user

    def _place_label(self, place: Place) -> str:
        name, audience = self._channels.name_of(place), self._channels.audience(place)
        return name if audience and audience.kind == "person" else f"members of {name}"


async def _return(ids: Sequence[str]) -> Sequence[str]:
    return ids
