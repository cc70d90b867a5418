"""Whom a place reaches: who gets a copy, and whether anybody is there who may decide."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_core.model import Action, Place, Review, Snapshot

from ..channels.contract import (
    Channel,
    LookupFailed,
    NotFound,
    RateLimited,
    Unreachable,
    base_place,
    copy_place,
)
from .cache import Cache
from .directory import MAX_MEMBERS, Directory

#: A group is told member by member, where it has no more than this.
MAX_COPIES = 30
#: How long the size of a conversation is believed, in seconds.
SIZE_MAX_AGE = 600.0


class NoDeciderLeft(NotFound):
    """It is known that nobody is left of those who may decide."""


class Recipients:
    """Raises NotThere with what is wrong with a place, and what else the channel raises."""

    def __init__(self, channel: Channel, directory: Directory) -> None:
        self._channel, self._directory = channel, directory
        self._sizes = Cache[Place, int](channel.conversation_size)

    async def check(self, review: Review, place: Place) -> LookupFailed | None:
        """That people there may decide, and somebody of them is left. The answer is what is not known: people
        are asked all the same, and it is looked at again.
        """
        size = await self._check_size(review, place)
        return await self._check_deciders(review, place) or size

    async def _check_size(self, review: Review, place: Place) -> LookupFailed | None:
        """Where the members of a conversation may decide, somebody knows who they are. A size that is not
        known hides no card: each person's right is looked up when they press.
        """
        by_membership = [
            action
            for action in waiting_actions(review, place)
            for grant in action.grants
            if grant.includes_members and place in grant.places
        ]
        if not by_membership or self._channel.audience(place).kind != "conversation":
            return None
        name = self._channel.name_of(place)
        try:
            size = await self._sizes.get(place, SIZE_MAX_AGE)
        except (RateLimited, Unreachable, LookupFailed) as error:
            return LookupFailed(f"how many members {name} has is not known: {error}")
        if size > MAX_MEMBERS:
            raise NotFound(f"{name} has {size:,} members: the policy has to name `reviewers`")
        return None

    async def _check_deciders(self, review: Review, place: Place) -> LookupFailed | None:
        """Somebody is there to read it, and somebody who may decide. Raises NobodyLeft where it is known that
        nobody is, of all that waits there: it opens what waits to others, and so must not be true of a part
        alone.
        """
        waiting, audience = waiting_actions(review, place), self._channel.audience(place)
        try:
            undecidable = [a for a in waiting if not await self._directory.has_decider(a.grants)]
            if not undecidable:
                if waiting and audience.kind == "person":
                    await self._check_person(audience.id, place)
                return None
        except (RateLimited, Unreachable, LookupFailed) as error:
            return LookupFailed(f"whether somebody is left who may decide is not known: {error}")
        reason = f"nobody is left who may decide on {undecidable[0].request.name}"
        raise NoDeciderLeft(reason) if len(undecidable) == len(waiting) else NotFound(reason)

    async def _check_person(self, user_id: str, place: Place) -> None:
        if not await self._directory.is_active(user_id):
            raise NotFound(f"{self._channel.name_of(place)} is not there any more")

    async def copies(self, snapshot: Snapshot, place: Place) -> list[Place]:
        """The place itself; of a group one place for each member. Who has left it is shown nothing more."""
        audience, review = self._channel.audience(place), snapshot.review
        if audience.kind != "group":
            return [place]
        members = await self._directory.group_members(audience.id)
        known = {one for one in snapshot.posts if one != place and base_place(one) == place}
        known &= {copy_place(place, member) for member in members}
        if not (waiting := waiting_actions(review, place)):
            return sorted(known)
        name, count = self._channel.name_of(place), len(members)
        if not members:
            raise NotFound(f"nobody is in {name}, or there is no such group")
        if count > MAX_COPIES:
            raise NotFound(f"{name} has {count} members: at most {MAX_COPIES} are told alone")
        # Who is asked alone about all of it has a message already.
        direct_recipients = {
            person.id
            for own in review.places
            if (person := self._channel.audience(own)).kind == "person"
            and all(own in action.places for action in waiting)
        }
        return sorted(known | {copy_place(place, member) for member in members - direct_recipients})


def waiting_actions(review: Review, place: Place) -> Sequence[Action]:
    """What people at this place have to decide."""
    if review.cancelled:
        return ()
    return [action for action in review.actions if action.is_pending and place in action.places]
