"""Finds who gets a card at a place, and whether anybody there may decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from hitl_core.model import Grant, Place, Snapshot, split_id
from hitl_core.policy import names_person
from hitl_core.review import OpenItem, excluded_keys, open_items
from hitl_core.store import Store

from ..channels.contract import (
    Channel,
    ChannelError,
    LookupFailed,
    NotFound,
    RateLimited,
    Unreachable,
)
from ..channels.registry import Channels
from .directory import Directory
from .lookups import Lookups, sized_mark
from .readers import find_readers

#: Each member of a group gets a copy, if the group has at most this many members.
MAX_COPIES = 30
_APPROVALS = frozenset({"approve", "edit", "respond"})


class NoDeciderLeft(NotFound):
    """It is known that nobody can decide on something that waits at a place any more. `undecidable` has
    the grants, by key.
    """

    def __init__(self, text: str, undecidable: Mapping[str, tuple[Grant, ...]]) -> None:
        super().__init__(text)
        self.undecidable = undecidable


class TooFewDeciders(NotFound):
    """It is known that fewer people are left than must approve an action. They can still reject it."""


class Copies(NamedTuple):
    """Where a card is shown: a place, or one for each member of a group. `unknown`: some members got no copy,
    because it is not known whether they may read it.
    """

    places: list[Place]
    unknown: LookupFailed | None = None


class Recipients:
    """Methods raise NotFound with the problem of a place, and other ChannelErrors."""

    def __init__(self, channels: Channels, directory: Directory, store: Store) -> None:
        self._channels, self._directory, self._store = channels, directory, store

    async def check(self, snapshot: Snapshot, place: Place) -> LookupFailed | TooFewDeciders | None:
        """Checks that people at this place may decide, and that one of them is active. Returns the look-up
        that failed, or that there are too few people; the card is shown nevertheless, and the check is
        repeated later.
        """
        await self._load_requester_name(snapshot, place)
        size = await self._check_size(snapshot, place)
        deciders = await self._check_deciders(snapshot, place)
        return size or deciders

    async def _load_requester_name(self, snapshot: Snapshot, place: Place) -> None:
        """For a card whose readers see no name for the requester's id. The name is only displayed, so a
        failure doesn't matter.
        """
        requester = snapshot.review.requester or ""
        channel, id = split_id(requester)
        own = self._channels.get(channel)
        if own is None or not names_person(requester):
            return
        if own.shows_names and own is self._channels.find(place):
            return
        with suppress(ChannelError):
            await self._directory.lookups(channel).person(id)

    async def _check_size(self, snapshot: Snapshot, place: Place) -> LookupFailed | None:
        """Checks that a conversation whose members may decide is not too large. An unknown size does not
        prevent the card, because each person's permission is checked on click. The check is made once: later
        growth takes away nobody's right, but a card that was posted for the decisions of others gives the
        members no right.
        """
        by_membership = any(
            grant.includes_members and place in grant.places
            for item in open_items(snapshot.review, place)
            for grant in item.grants
        )
        channel = self._channels.of_place(place)
        is_new = sized_mark(place) not in snapshot.marks
        if not (by_membership and is_new and channel.audience(place).kind == "conversation"):
            return None
        try:
            lookups = self._directory.lookups(channel.name)
            await lookups.find(lambda lookups: lookups.check_size(place))
        except (RateLimited, Unreachable, LookupFailed) as error:
            name = channel.name_of(place)
            return LookupFailed(f"the number of members of {name} is not known: {error}")
        await self._store.record_mark(snapshot.review.id, sized_mark(place))
        return None

    async def _check_deciders(
        self, snapshot: Snapshot, place: Place
    ) -> LookupFailed | TooFewDeciders | None:
        """Checks that somebody can read the card at this place, and that each action has a decider."""
        waiting, channel = open_items(snapshot.review, place), self._channels.of_place(place)
        audience = channel.audience(place)
        try:
            undecidable = await self.undecidable(snapshot, place)
            if waiting and not undecidable and audience.kind == "person":
                await self._check_person(channel, audience.id, place)
            too_few = None if undecidable else await self._find_too_few(waiting, snapshot)
        except (RateLimited, Unreachable, LookupFailed) as error:
            return LookupFailed(f"it is not known whether anybody who may decide is left: {error}")
        if undecidable:
            name = next(one.name for one in waiting if one.key in undecidable)
            raise NoDeciderLeft(f"nobody can decide on {name} any more", undecidable)
        return too_few

    async def _find_too_few(
        self, waiting: Sequence[OpenItem], snapshot: Snapshot
    ) -> TooFewDeciders | None:
        """The first action that too few people can approve, even with the people of the next steps, or the
        first call in doubt that too few can order to run again. The card is still shown, because people can
        reject or skip it. No other people get the right to decide, because the agent names the requester and
        so could cause this.
        """
        for item in waiting:
            action = item.action or snapshot.review.action(item.key)
            if action is None or not _APPROVALS & {*action.config.allowed_decisions}:
                continue
            coming = item.action.coming_grants if item.action else ()
            quorum, excluded = action.route.reviewers.quorum, excluded_keys(snapshot.review, action)
            for grants in (item.grants, (*item.grants, *coming)):
                left = await self._directory.deciders_left(grants, snapshot, quorum, excluded)
                if left == "enough":
                    break
            else:
                verb = "approve" if item.action else "say what happened to"
                return TooFewDeciders(f"too few people are left who may {verb} {item.name}")
        return None

    async def undecidable(
        self, snapshot: Snapshot, place: Place, *, is_lost: bool = False
    ) -> dict[str, tuple[Grant, ...]]:
        """The grants, by key, of what waits here and nobody can decide, if that is known. `is_lost`: no card
        can be shown at the place. Then members of a conversation without a card can't decide, but members of
        a group can, in their Home. Raises ChannelError if a look-up fails.
        """
        audience = self._channels.audience(place)
        is_conversation = audience is None or audience.kind == "conversation"
        lost = place if is_lost and is_conversation and place not in snapshot.posts else None
        found = dict[str, tuple[Grant, ...]]()
        for item in open_items(snapshot.review, place):
            left = await self._directory.deciders_left(item.grants, snapshot, lost=lost)
            if left == "nobody":
                found[item.key] = item.grants
        return found

    async def _check_person(self, channel: Channel, user_id: str, place: Place) -> None:
        async def check(lookups: Lookups) -> None:
            if not await lookups.is_active(user_id):
                raise NotFound(f"{channel.name_of(place)} has left")

        await self._directory.lookups(channel.name).find(check)

    async def copies_without_post(self, snapshot: Snapshot, place: Place) -> list[Place]:
        """The place, or one for each member of a group, where no message is recorded."""
        channel = self._channels.of_place(place)
        audience = channel.audience(place)
        if audience.kind != "group" or place.member:
            return [] if place in snapshot.posts else [place]
        members = await self._directory.lookups(channel.name).group_members(audience.id)
        copies = [] if len(members) > MAX_COPIES else sorted(map(place.for_member, members))
        return [copy for copy in copies if copy not in snapshot.posts]

    async def copies(self, snapshot: Snapshot, place: Place) -> Copies:
        """The place itself; for a group, a place for each member who may read the review. People who left it
        get no updates.
        """
        await self._load_requester_name(
            snapshot, place
        )  # each update shows it, also after a restart
        channel = self._channels.of_place(place)
        audience = channel.audience(place)
        if audience.kind != "group":
            return Copies([place])
        lookups = self._directory.lookups(channel.name)
        return await lookups.find(lambda one: self._group_copies(snapshot, place, audience.id, one))

    async def _group_copies(
        self, snapshot: Snapshot, place: Place, group: str, lookups: Lookups
    ) -> Copies:
        review, channel = snapshot.review, lookups.channel
        members = await lookups.group_members(group)
        known = {one for one in snapshot.posts if one != place and one.base == place}
        known &= {place.for_member(member) for member in members}
        if not (waiting := open_items(review, place)):
            return Copies(sorted(known))
        name, count = channel.name_of(place), len(members)
        if not members:
            raise NotFound(f"nobody is in {name}, or there is no such group")
        if count > MAX_COPIES:
            why = f"{name} has {count} members: at most {MAX_COPIES} can get a message each"
            raise LookupFailed(why) if known else NotFound(why)  # a group that grew keeps its cards
        readers = await find_readers(lookups, members, waiting, name)
        if not readers.yes and readers.unknown is None:
            raise NotFound(f"{name} has only people who can't get a card, such as guests")
        # People who have their own place for all of these actions have a message already.
        direct_recipients = {
            person.id
            for own in review.places
            if self._channels.find(own) is channel
            and (person := channel.audience(own)).kind == "person"
            and all(own in item.places for item in waiting)
        }
        wanted = {place.for_member(member) for member in readers.yes - direct_recipients}
        refused = {place.for_member(member) for member in readers.no}
        return Copies(sorted((known - refused) | wanted), readers.unknown)
