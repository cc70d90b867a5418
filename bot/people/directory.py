"""Checks who may decide: the people whom the policy names, or the members of the action's places."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeVar

from hitl_core.errors import Refused
from hitl_core.model import (
    CLI,
    POLICY,
    Grant,
    MessageRef,
    Place,
    Reviewer,
    Snapshot,
    person_key,
    person_label,
    split_id,
)

from .. import click_budget
from ..channels.contract import ChannelError, LookupFailed, NotFound, Undeliverable
from ..channels.registry import Channels
from .lookups import Lookups
from .people import People

log = logging.getLogger(__name__)

T = TypeVar("T")

#: `too_few`: somebody is left, but fewer than have to agree.
DecidersLeft = Literal["enough", "too_few", "nobody"]

ONLY_MEMBERS = "Only people of this workspace may decide."
TRY_AGAIN = "Nothing was changed. Press again, or tell the people who run the bot."
LOOKUP_UNAVAILABLE = "Who may decide could not be looked up. Press again."


class _Source(NamedTuple):
    """Some people of one channel, by id, and whether one of them may decide."""

    lookups: Lookups
    load_ids: Callable[[], Awaitable[Iterable[str]]]
    may_decide: Callable[[str], Awaitable[bool]]


class Directory:
    """Each channel judges its own people. A person of a channel that the bot does not have may decide
    nothing. `people` says which identities are one human: one who may decide by one identity may decide with
    all of them, and counts once.
    """

    def __init__(self, channels: Channels, people: People | None = None) -> None:
        self._channels, self._people = channels, people or People()
        self._lookups = {channel.name: Lookups(channel) for channel in channels}

    def lookups(self, channel: str) -> Lookups:
        """The look-ups of a configured channel, by its name."""
        return self._lookups[channel]

    def is_external(self, who: Reviewer) -> bool:
        """Whether this person is of another workspace or tenant, or of a channel that the bot does not have.
        They may decide only if the policy names them, and otherwise learn nothing, not even whether a review
        exists.
        """
        channel = self._channels.get(who.channel)
        return channel is None or who.team != channel.team

    async def check_can_decide(
        self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]
    ) -> None:
        """Raises Refused if no grant allows this person to decide, or if the look-up fails or is too slow."""
        grants = tuple(grants)
        if await _answer_in_time(self._can_decide(who, snapshot, grants)):
            return
        if self._has_unposted_card(grants, snapshot):
            sentence = "This message is still being recorded. Press again in a moment."
            raise Refused("unknown_members", sentence)
        if self.is_external(who):
            raise Refused("not_permitted", ONLY_MEMBERS)
        names = await _answer_in_time(self.format_deciders(grants)) or "nobody"
        raise Refused("not_permitted", f"Only {names} may decide this.")

    async def ineligible_voters(
        self, voters: Sequence[Reviewer], snapshot: Snapshot, grants: Iterable[Grant]
    ) -> frozenset[str]:
        """The keys of the voters who may no longer decide, or who are the same human as an earlier voter.
        Raises Refused if a look-up fails or is too slow.
        """
        grants = tuple(grants)

        async def find_ineligible() -> frozenset[str]:
            out, humans = set[str](), set[str]()
            for who in voters:
                keys = who.keys | self._people.keys_of(who.key)
                is_new = humans.isdisjoint(keys)
                if not await self._can_decide(who, snapshot, grants) or not is_new:
                    out.add(who.key)
                else:
                    humans |= keys
            return frozenset(out)

        return await _answer_in_time(find_ineligible())

    async def deciders_left(
        self,
        grants: Iterable[Grant],
        posts: Mapping[Place, MessageRef],
        quorum: int = 1,
        excluded: Collection[str] = (),
        lost: Place | None = None,
    ) -> DecidersLeft:
        """Whether `quorum` people who may decide are left, without those with the `excluded` keys.

        `posts` are the review's cards. `lost` is a place that can't be reached: its members don't count.
        Raises ChannelError if there are too few and some look-ups failed.
        """
        humans, unknown = set[frozenset[str]](), None
        for lookups, load_ids, may_decide in self._sources(tuple(grants), posts, lost):
            try:
                ids = await load_ids()
            except NotFound:  # no decider can be reached there
                continue
            except ChannelError as error:
                unknown = unknown or error
                continue
            for id in sorted(ids):  # each time the same ones, so that they are in the cache
                try:
                    if await may_decide(id):
                        humans.add(self._people.keys_of(f"{lookups.channel.name}:{id}"))
                except ChannelError as error:
                    unknown = unknown or error
                if sum(keys.isdisjoint(excluded) for keys in humans) >= quorum:
                    return "enough"
        if unknown is not None:
            raise unknown
        return "too_few" if humans else "nobody"

    def _sources(
        self, grants: Sequence[Grant], posts: Mapping[Place, MessageRef], lost: Place | None
    ) -> Iterator[_Source]:
        """The people of these grants; named people first, because they need the fewest look-ups. Nobody of a
        channel that the bot does not have.
        """
        users = [split_id(user) for grant in grants for user in grant.reviewers.users]
        groups = [split_id(group) for grant in grants for group in grant.reviewers.groups]
        places = [place for grant in grants if grant.includes_members for place in grant.places]
        for name, lookups in self._lookups.items():
            if named := [id for channel, id in users if channel == name]:
                yield _Source(lookups, partial(_return, named), lookups.is_active)
        for channel, id in dict.fromkeys(groups):
            if (lookups := self._lookups.get(channel)) is not None:
                yield _Source(lookups, partial(lookups.group_members, id), lookups.is_member)
        for place in dict.fromkeys(places):
            if place != lost and (lookups := self._of_place(place)) is not None:
                yield _Source(
                    lookups, partial(lookups.place_members, place, posts), lookups.is_member
                )

    async def format_deciders(self, grants: Iterable[Grant]) -> str:
        """The names of those who may decide: "Ann, @finance or members of #team-ops"."""
        names: list[str] = []
        for grant in grants:
            names += [await self._user_label(user) for user in grant.reviewers.users]
            for group in grant.reviewers.groups:
                names.append(self._channels.name_of(Place(person_key(group))))
            if grant.includes_members:
                names += [self._place_label(place) for place in grant.places]
        unique_names = list(dict.fromkeys(names))
        return " or ".join(
            [part for part in (", ".join(unique_names[:-1]), *unique_names[-1:]) if part]
        )

    async def load_reviewer(self, channel: str, user_id: str, team: str, name: str) -> Reviewer:
        """The person who clicked, with their display name and other identities. Only ids are used for
        permissions.
        """
        try:
            async with click_budget.timeout("name"):
                person = await self._lookups[channel].person(user_id)
            name = person.name if person else name
        except (TimeoutError, ChannelError):
            log.info("the name of %s could not be looked up", user_id)
        who = Reviewer(channel=channel, team=team, id=user_id, name=name)
        aliases = sorted(self._people.keys_of(who.key) - {who.key})
        return who.model_copy(update={"aliases": tuple(aliases)})

    def identities(self, who: Reviewer) -> list[tuple[Lookups, str]]:
        """The person's identities in the bot's channels, their own first. An external person has only the one
        with which they came.
        """
        keys = self._people.keys_of(who.key) if not self.is_external(who) else frozenset([who.key])
        found = list[tuple[Lookups, str]]()
        for key in (who.key, *sorted(keys - {who.key})):
            channel, id = split_id(key)
            if (lookups := self._lookups.get(channel)) is not None:
                found.append((lookups, id))
        return found

    async def _can_decide(self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]) -> bool:
        """Bots and deactivated people never; guests and external people only if named; nobody of a channel
        that the bot does not have. Raises ChannelError if no look-up says yes and one failed.
        """
        if who.channel in (CLI, POLICY):
            return True  # a person with access to the store can write anything to it
        if who.channel not in self._lookups:
            return False
        if not await self._lookups[who.channel].is_active(who.id):
            return False
        grants, is_external = tuple(grants), self.is_external(who)
        return await _any_yes(
            partial(self._may_decide_as, lookups, id, snapshot, grants, is_external)
            for lookups, id in self.identities(who)
        )

    async def _may_decide_as(
        self,
        lookups: Lookups,
        id: str,
        snapshot: Snapshot,
        grants: Sequence[Grant],
        is_external: bool,
    ) -> bool:
        """Whether one identity may decide, by the look-ups of its own channel."""
        person, name = await lookups.person(id), lookups.channel.name
        if person is None or not person.active or person.kind == "bot":
            return False
        if any((name, id) == split_id(user) for grant in grants for user in grant.reviewers.users):
            return True
        if person.kind != "member" or is_external:
            return False
        groups = [split_id(group) for grant in grants for group in grant.reviewers.groups]
        places = [place for grant in grants if grant.includes_members for place in grant.places]
        return await _any_yes(
            [
                *(partial(lookups.is_in_group, one, id) for at, one in groups if at == name),
                *(
                    partial(lookups.is_place_member, id, snapshot, place)
                    for place in places
                    if self._of_place(place) is lookups
                ),
            ]
        )

    def _of_place(self, place: Place) -> Lookups | None:
        channel = self._channels.find(place)
        return None if channel is None else self._lookups[channel.name]

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

    def _has_unposted_card(self, grants: Iterable[Grant], snapshot: Snapshot) -> bool:
        """Whether a card is not posted yet whose conversation's members may decide."""
        return any(
            place not in snapshot.posts
            and (audience := self._channels.audience(place)) is not None
            and audience.kind == "conversation"
            for grant in grants
            if grant.includes_members
            for place in grant.places
        )


async def _return(ids: Sequence[str]) -> Sequence[str]:
    return ids


async def _any_yes(questions: Iterable[Callable[[], Awaitable[bool]]]) -> bool:
    """True at the first yes, False if all are no. Otherwise raises the first ChannelError."""
    unknown: ChannelError | None = None
    for question in questions:
        try:
            if await question():
                return True
        except ChannelError as error:
            unknown = unknown or error
    if unknown is not None:
        raise unknown
    return False


async def _answer_in_time(question: Awaitable[T]) -> T:
    """Waits for a look-up. Raises Refused if it fails or is too slow."""
    try:
        async with click_budget.timeout("lookup"):
            return await question
    except (LookupFailed, Undeliverable) as error:
        raise Refused(
            "unavailable", f"It is not known who may decide: {error}. {TRY_AGAIN}"
        ) from error
    except (TimeoutError, ChannelError) as error:
        log.warning("who may decide could not be looked up: %s", error or "it took too long")
        raise Refused("unavailable", LOOKUP_UNAVAILABLE) from error
