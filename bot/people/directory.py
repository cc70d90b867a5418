"""Checks who may decide: the people whom the policy names, or the members of the action's places."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, TypeVar, assert_never

from hitl_core.errors import Refused
from hitl_core.model import CLI, Grant, Place, Reviewer, Snapshot, person_key, person_label

from .. import click_budget
from ..channels.contract import (
    Channel,
    ChannelError,
    LookupFailed,
    NotFound,
    Person,
    Undeliverable,
)
from .cache import Cache

log = logging.getLogger(__name__)

T = TypeVar("T")

#: `too_few`: somebody is left, but fewer than have to agree.
DecidersLeft = Literal["enough", "too_few", "nobody"]
#: Some people, and whether one of them may decide.
_Source = tuple[Callable[[], Awaitable[Iterable[str]]], Callable[[str], Awaitable[bool]]]

#: A person who lost the permission is refused after this many seconds at the latest.
MAX_AGE = 60.0
#: A person who just got the permission is accepted after this many seconds at the latest.
MIN_AGE = 3.0
#: Members of a larger conversation are not looked up: the policy must name reviewers.
MAX_MEMBERS = 1000
#: How long the size of a conversation is believed, in seconds.
SIZE_MAX_AGE = 600.0
#: How long a click waits for one look-up of who may decide, in seconds.
LOOKUP_TIMEOUT = 0.8
#: How long a click waits for the name of the person who clicked, in seconds.
NAME_TIMEOUT = 0.3

ONLY_MEMBERS = "Only people of this workspace may decide."
TRY_AGAIN = "Nothing was changed. Press again, or tell the people who run the bot."
LOOKUP_UNAVAILABLE = "Who may decide could not be looked up. Press again."


class Directory:
    """Caches look-ups for MAX_AGE seconds; the `forget_` methods drop what changed."""

    def __init__(self, channel: Channel, team: str) -> None:
        self._channel, self._team = channel, team
        self._people: Cache[str, Person | None] = Cache(channel.person)
        self._groups: Cache[str, frozenset[str]] = Cache(channel.group_members)
        self._members: Cache[str, frozenset[str]] = Cache(channel.conversation_members)
        self._sizes: Cache[Place, int] = Cache(channel.conversation_size)

    def is_external(self, who: Reviewer) -> bool:
        """Whether this person is of another workspace. They may decide only if the policy names them, and
        otherwise learn nothing, not even whether a review exists.
        """
        return who.team != self._team

    async def check_can_decide(
        self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]
    ) -> None:
        """Raises Refused if no grant allows this person to decide, or if the look-up fails or is too slow."""
        grants = tuple(grants)
        if await _answer_in_time(self._can_decide(who, snapshot, grants)):
            return
        if _has_unposted_card(grants, snapshot, self._channel):
            sentence = "This message is still being recorded. Press again in a moment."
            raise Refused("unknown_members", sentence)
        if self.is_external(who):
            raise Refused("not_permitted", ONLY_MEMBERS)
        names = await _answer_in_time(self.format_deciders(grants)) or "nobody"
        raise Refused("not_permitted", f"Only {names} may decide this.")

    async def ineligible_voters(
        self, voters: Sequence[Reviewer], snapshot: Snapshot, grants: Iterable[Grant]
    ) -> frozenset[str]:
        """The keys of the voters who may no longer decide. Raises Refused if a look-up fails or
        is too slow.
        """
        grants = tuple(grants)

        async def find_ineligible() -> frozenset[str]:
            allowed = [await self._can_decide(who, snapshot, grants) for who in voters]
            return frozenset([who.key for who, yes in zip(voters, allowed, strict=True) if not yes])

        return await _answer_in_time(find_ineligible())

    async def deciders_left(
        self,
        grants: Iterable[Grant],
        quorum: int = 1,
        excluded: Container[str] = (),
        lost: Place | None = None,
    ) -> DecidersLeft:
        """Whether `quorum` people who may decide are left, without the `excluded` ones. `lost` is a place
        that can't be reached: its members don't count. Raises ChannelError if there are too few and some
        look-ups failed.
        """
        people, unknown = set[str](), None
        for load_users, may_decide in self._sources(tuple(grants), lost):
            try:
                users = await load_users()
            except NotFound:  # no decider can be reached there
                continue
            except ChannelError as error:
                unknown = unknown or error
                continue
            for user in sorted(users):  # each time the same ones, so that they are in the cache
                try:
                    if await may_decide(user):
                        people.add(user)
                except ChannelError as error:
                    unknown = unknown or error
                if sum(one not in excluded for one in people) >= quorum:
                    return "enough"
        if unknown is not None:
            raise unknown
        return "too_few" if people else "nobody"

    def _sources(self, grants: Sequence[Grant], lost: Place | None) -> Iterator[_Source]:
        """Sources of deciders, and the check for each person; named people first, because they need the
        fewest look-ups.
        """

        async def named_users() -> Iterable[str]:
            return [user for grant in grants for user in grant.reviewers.users]

        yield named_users, self.is_active
        for group in dict.fromkeys(group for grant in grants for group in grant.reviewers.groups):
            yield partial(self.group_members, group), self.is_member
        places = [place for grant in grants if grant.includes_members for place in grant.places]
        for place in dict.fromkeys(places):
            if place != lost:
                yield partial(self._place_members, place), self.is_member

    async def _place_members(self, place: Place) -> Iterable[str]:
        """Raises NotFound for a conversation that does not exist or is too large to look up its members."""
        audience = self._channel.audience(place)
        match audience.kind:
            case "person":
                return [audience.id]
            case "group":
                return await self.group_members(audience.id)
            case "conversation":
                await self.check_size(place)
                return await self._members.get(await self._channel.conversation_id(place), MAX_AGE)
            case _:
                assert_never(audience.kind)

    async def check_size(self, place: Place) -> None:
        """Raises NotFound if the bot can't use a conversation, or if it is too large to look up its members;
        also other ChannelErrors.
        """
        size = await self._sizes.get(place, SIZE_MAX_AGE)
        if size > MAX_MEMBERS:
            name = self._channel.name_of(place)
            raise NotFound(f"{name} has {size:,} members: the policy must name `reviewers`")

    async def is_member(self, user_id: str) -> bool:
        """Whether this is an active member of the workspace, not a guest. Raises ChannelError."""
        person = await self._find_person(user_id)
        return person is not None and person.active and person.kind == "member"

    async def is_active(self, user_id: str) -> bool:
        """Whether this is an active person, not a bot. Raises ChannelError."""
        person = await self._find_person(user_id)
        return person is not None and person.active and person.kind != "bot"

    async def format_deciders(self, grants: Iterable[Grant]) -> str:
        """The names of those who may decide: "Ann, @finance or members of #team-ops"."""
        names: list[str] = []
        for grant in grants:
            for user in grant.reviewers.users:
                try:
                    person = await self._find_person(user)
                except ChannelError:
                    person = None
                names.append(person_label(person.name, user) if person else user)
            names += [
                self._channel.name_of(Place(person_key(group))) for group in grant.reviewers.groups
            ]
            if grant.includes_members:
                names += [self._place_label(place) for place in grant.places]
        unique_names = list(dict.fromkeys(names))
        return " or ".join(
            [part for part in (", ".join(unique_names[:-1]), *unique_names[-1:]) if part]
        )

    def forget_person(self, user_id: str) -> None:
        self._people.forget(user_id)

    def forget_group(self, group_id: str) -> None:
        self._groups.forget(group_id)

    def forget_members(self, conversation: str) -> None:
        self._members.forget(conversation)

    async def load_reviewer(self, user_id: str, team: str, name: str) -> Reviewer:
        """The person who clicked, with their display name. Only ids are used for permissions."""
        try:
            async with click_budget.timeout(NAME_TIMEOUT):
                person = await self._find_person(user_id)
            name = person.name if person else name
        except (TimeoutError, ChannelError):
            log.info("the name of %s could not be looked up", user_id)
        return Reviewer(channel=self._channel.name, team=team, id=user_id, name=name)

    async def _can_decide(self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]) -> bool:
        """Bots and deactivated people never; guests and external people only if named. Raises ChannelError if
        no look-up says yes and one failed.
        """
        if who.channel == CLI:
            return True  # a person with access to the store can write anything to it
        if who.channel != self._channel.name:
            return False  # people of another channel are not known here
        person = await self._find_person(who.id)
        if person is None or not person.active or person.kind == "bot":
            return False
        if any(who.id in grant.reviewers.users for grant in grants):
            return True
        if person.kind != "member" or self.is_external(who):
            return False
        grants = tuple(grants)
        groups = [group for grant in grants for group in grant.reviewers.groups]
        places = [place for grant in grants if grant.includes_members for place in grant.places]
        return await _any_yes(
            [
                *(partial(self._in_group, group, who.id) for group in groups),
                *(partial(self._is_place_member, who.id, snapshot, place) for place in places),
            ]
        )

    async def _is_place_member(self, user_id: str, snapshot: Snapshot, place: Place) -> bool:
        audience = self._channel.audience(place)
        match audience.kind:
            case "person":
                return audience.id == user_id
            case "group":
                return await self._in_group(audience.id, user_id)
            case "conversation":
                ref = snapshot.posts.get(place)
                return ref is not None and await self._in_conversation(ref.conversation, user_id)
            case _:
                assert_never(audience.kind)

    async def _in_conversation(self, conversation: str, user_id: str) -> bool:
        """A person who is not in the cached list is looked up again: they may just have been added."""
        members = self._members
        return user_id in await members.get(conversation, MAX_AGE) or user_id in await members.get(
            conversation, MIN_AGE
        )

    async def _in_group(self, group: str, user_id: str) -> bool:
        return user_id in await self.group_members(group) or user_id in await self.group_members(
            group, MIN_AGE
        )

    async def group_members(self, group: str, max_age: float = MAX_AGE) -> frozenset[str]:
        """The members; empty for a deleted or disabled group. Raises ChannelError if the look-up fails."""
        return await self._groups.get(group, max_age)

    async def _find_person(self, user_id: str) -> Person | None:
        """None if there is no such person. Raises ChannelError if the look-up fails."""
        return await self._people.get(user_id, MAX_AGE)

    def _place_label(self, place: Place) -> str:
        name = self._channel.name_of(place)
        return name if self._channel.audience(place).kind == "person" else f"members of {name}"


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
    """Waits for a look-up. Raises Refused if it fails or takes longer than LOOKUP_TIMEOUT."""
    try:
        async with click_budget.timeout(LOOKUP_TIMEOUT):
            return await question
    except (LookupFailed, Undeliverable) as error:
        raise Refused(
            "unavailable", f"It is not known who may decide: {error}. {TRY_AGAIN}"
        ) from error
    except (TimeoutError, ChannelError) as error:
        log.warning("who may decide could not be looked up: %s", error or "it took too long")
        raise Refused("unavailable", LOOKUP_UNAVAILABLE) from error


def _has_unposted_card(grants: Iterable[Grant], snapshot: Snapshot, channel: Channel) -> bool:
    """Whether a card is not posted yet whose conversation's members may decide."""
    return any(
        place not in snapshot.posts and channel.audience(place).kind == "conversation"
        for grant in grants
        if grant.includes_members
        for place in grant.places
    )
