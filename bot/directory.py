"""Who may decide: the people whom the policy names, or the members of where the action stands."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar, assert_never

from bot import budget
from bot.channel import Channel, ChannelError, LookupFailed, Person, Undeliverable
from bot.lookups import Lookups
from hitl_core.errors import Refused
from hitl_core.model import CLI, Grant, Place, Reviewer, Snapshot, label

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Who may no longer decide is refused this many seconds later, at the latest.
MAX_AGE = 60.0
#: Who may decide since just now is let in this many seconds later, at the latest.
MIN_AGE = 3.0
#: In a larger conversation nobody knows who its members are: the policy has to name reviewers.
MAX_MEMBERS = 1000
#: How long a click waits for one answer about who may decide, in seconds.
PATIENCE = 0.8
#: How long a click waits for the name of who pressed, in seconds.
NAMED = 0.3

OUTSIDE = "Only people of this workspace may decide."
AGAIN = "Nothing was changed. Press again, or tell the people who run the bot."
UNKNOWN = "Who may decide could not be looked up just now. Press again."


class Directory:
    """Believes what it looked up for MAX_AGE seconds, and forgets at once what it is told has changed."""

    def __init__(self, channel: Channel, team: str) -> None:
        self._channel, self._team = channel, team
        self._people: Lookups[str, Person | None] = Lookups(channel.person)
        self._groups: Lookups[str, frozenset[str]] = Lookups(channel.group)
        self._members: Lookups[str, frozenset[str]] = Lookups(channel.members)

    def is_stranger(self, who: Reviewer) -> bool:
        """Somebody of another workspace may decide only where the policy names them, and else learns nothing,
        not even which reviews there are.
        """
        return who.team != self._team

    async def check(self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]) -> None:
        """Raises Refused where this person may not decide by any of these, or nobody can tell in time."""
        grants = tuple(grants)
        if await _in_time(self._may(who, snapshot, grants)):
            return
        if _unposted(grants, snapshot, self._channel):
            told = "This message is still being noted down. Press again in a moment."
            raise Refused("unknown_members", told)
        if self.is_stranger(who):
            raise Refused("not_permitted", OUTSIDE)
        named = await _in_time(self.named(grants)) or "nobody"
        raise Refused("not_permitted", f"Only {named} may decide this.")

    async def lapsed(
        self, voters: Sequence[Reviewer], snapshot: Snapshot, grants: Iterable[Grant]
    ) -> frozenset[str]:
        """Which of these people may no longer decide. Raises Refused where nobody can tell in time."""
        grants = tuple(grants)

        async def found() -> frozenset[str]:
            may = [await self._may(who, snapshot, grants) for who in voters]
            return frozenset([who.key for who, yes in zip(voters, may, strict=True) if not yes])

        return await _in_time(found())

    async def anybody(self, grants: Iterable[Grant]) -> bool:
        """Whether somebody is left who may decide. One who is known to be there is enough; raises
        ChannelError where there is none, and not all could be looked up.
        """
        grants = tuple(grants)
        audiences = [
            self._channel.audience(place)
            for grant in grants
            if grant.by_membership
            for place in grant.places
        ]
        if any(audience.kind == "conversation" for audience in audiences):
            return True
        users = [user for grant in grants for user in grant.reviewers.users]
        groups = [group for grant in grants for group in grant.reviewers.groups]
        users += [audience.id for audience in audiences if audience.kind == "person"]
        groups += [audience.id for audience in audiences if audience.kind == "group"]
        return await _any(
            [
                *(partial(self.is_there, user) for user in dict.fromkeys(users)),
                *(partial(self._is_anybody_in, group) for group in dict.fromkeys(groups)),
            ]
        )

    async def is_member(self, user_id: str) -> bool:
        """Whether this is one of the workspace's own people, no guest. Raises ChannelError."""
        person = await self._known(user_id)
        return person is not None and person.active and person.kind == "member"

    async def is_there(self, user_id: str) -> bool:
        """Whether this is a person who has not left. Raises ChannelError."""
        person = await self._known(user_id)
        return person is not None and person.active and person.kind != "bot"

    async def named(self, grants: Iterable[Grant]) -> str:
        """Who may decide, for people: "Ann, @finance or members of #team-ops"."""
        names: list[str] = []
        for grant in grants:
            for user in grant.reviewers.users:
                try:
                    person = await self._known(user)
                except ChannelError:
                    person = None
                names.append(label(person.name, user) if person else user)
            names += [self._channel.name_of(f"slack:{group}") for group in grant.reviewers.groups]
            if grant.by_membership:
                names += [self._place(place) for place in grant.places]
        told = list(dict.fromkeys(names))
        return " or ".join([part for part in (", ".join(told[:-1]), *told[-1:]) if part])

    def person_changed(self, user_id: str) -> None:
        self._people.forget(user_id)

    def group_changed(self, group_id: str) -> None:
        self._groups.forget(group_id)

    def members_changed(self, conversation: str) -> None:
        self._members.forget(conversation)

    async def reviewer(self, user_id: str, team: str, name: str) -> Reviewer:
        """A clicking person, with the name that people know; the ids alone decide anything."""
        try:
            async with budget.within(NAMED):
                person = await self._known(user_id)
            name = person.name if person else name
        except (TimeoutError, ChannelError):
            log.info("the name of %s could not be looked up", user_id)
        return Reviewer(channel=self._channel.name, team=team, id=user_id, name=name)

    async def _may(self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]) -> bool:
        """Bots and people who left never; strangers and guests only by name. Raises ChannelError where no
        answer is yes, and one is not known.
        """
        if who.channel == CLI:
            return True  # whoever holds the store's address can write anything to it
        if who.channel != self._channel.name:
            return False  # people of another channel are not known here
        person = await self._known(who.id)
        if person is None or not person.active or person.kind == "bot":
            return False
        if any(who.id in grant.reviewers.users for grant in grants):
            return True
        if person.kind != "member" or self.is_stranger(who):
            return False
        grants = tuple(grants)
        groups = [group for grant in grants for group in grant.reviewers.groups]
        places = [place for grant in grants if grant.by_membership for place in grant.places]
        return await _any(
            [
                *(partial(self._in_group, group, who.id) for group in groups),
                *(partial(self._is_member, who.id, snapshot, place) for place in places),
            ]
        )

    async def _is_member(self, user_id: str, snapshot: Snapshot, place: Place) -> bool:
        audience = self._channel.audience(place)
        match audience.kind:
            case "person":
                return audience.id == user_id
            case "group":
                return await self._in_group(audience.id, user_id)
            case "conversation":
                ref = snapshot.posts.get(place)
                return ref is not None and await self._in_room(ref.conversation, user_id)
            case _:
                assert_never(audience.kind)

    async def _in_room(self, conversation: str, user_id: str) -> bool:
        """Who is not among them is looked for again soon: somebody may just have been added."""
        members = self._members
        return user_id in await members.get(conversation, MAX_AGE) or user_id in await members.get(
            conversation, MIN_AGE
        )

    async def _in_group(self, group: str, user_id: str) -> bool:
        return user_id in await self.members_of(group) or user_id in await self.members_of(
            group, MIN_AGE
        )

    async def _is_anybody_in(self, group: str) -> bool:
        members = sorted(await self.members_of(group))
        return await _any([partial(self.is_there, user) for user in members])

    async def members_of(self, group: str, max_age: float = MAX_AGE) -> frozenset[str]:
        """Nobody is in a group that was deleted or disabled. Raises ChannelError where that is not known."""
        return await self._groups.get(group, max_age)

    async def _known(self, user_id: str) -> Person | None:
        """None where there is no such person. Raises ChannelError where that is not known."""
        return await self._people.get(user_id, MAX_AGE)

    def _place(self, place: Place) -> str:
        name = self._channel.name_of(place)
        return name if self._channel.audience(place).kind == "person" else f"members of {name}"


async def _any(questions: Iterable[Callable[[], Awaitable[bool]]]) -> bool:
    """Three answers: True with the first yes, False where all are no; else raises the first ChannelError."""
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


async def _in_time(asked: Awaitable[T]) -> T:
    """Raises Refused where Slack doesn't tell within the time that a click has for this."""
    try:
        async with budget.within(PATIENCE):
            return await asked
    except (LookupFailed, Undeliverable) as error:
        raise Refused("unavailable", f"Who may decide is not known: {error}. {AGAIN}") from error
    except (TimeoutError, ChannelError) as error:
        log.warning("who may decide could not be looked up: %s", error or "it took too long")
        raise Refused("unavailable", UNKNOWN) from error


def _unposted(grants: Iterable[Grant], snapshot: Snapshot, channel: Channel) -> bool:
    """Whether a card is still being posted whose conversation would say who may decide."""
    return any(
        place not in snapshot.posts and channel.audience(place).kind == "conversation"
        for grant in grants
        if grant.by_membership
        for place in grant.places
    )
