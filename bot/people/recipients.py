"""Whom a place reaches: who gets a copy, and whether anybody is there who may decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hitl_core.model import Action, Grant, Place, Review, Snapshot
from hitl_core.review.vote_count import excluded_ids

from ..channels.contract import (
    Channel,
    LookupFailed,
    NotFound,
    RateLimited,
    Unreachable,
    base_place,
    copy_place,
)
from .directory import Directory

#: A group is told member by member, where it has no more than this.
MAX_COPIES = 30


class NoDeciderLeft(NotFound):
    """It is known that nobody is left who may decide some of what waits at a place. `undecidable` has the
    grants that were looked up, by the actions' keys.
    """

    def __init__(self, text: str, undecidable: Mapping[str, tuple[Grant, ...]]) -> None:
        super().__init__(text)
        self.undecidable = undecidable


class TooFewDeciders(NotFound):
    """It is known that fewer people are left than must approve something. They may still reject it."""


class Recipients:
    """Raises NotFound with what is wrong with a place, and what else the channel raises."""

    def __init__(self, channel: Channel, directory: Directory) -> None:
        self._channel, self._directory = channel, directory

    async def check(self, review: Review, place: Place) -> LookupFailed | TooFewDeciders | None:
        """That people there may decide, and somebody of them is left. The answer is what is not known, or
        that they are too few: the card is shown all the same, and it is looked at again.
        """
        size = await self._check_size(review, place)
        deciders = await self._check_deciders(review, place)
        return size or deciders

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
        try:
            await self._directory.check_size(place)
        except (RateLimited, Unreachable, LookupFailed) as error:
            name = self._channel.name_of(place)
            return LookupFailed(f"how many members {name} has is not known: {error}")
        return None

    async def _check_deciders(
        self, review: Review, place: Place
    ) -> LookupFailed | TooFewDeciders | None:
        """Somebody is there to read it, and somebody who may decide."""
        waiting, audience = waiting_actions(review, place), self._channel.audience(place)
        try:
            undecidable = await self.undecidable(review, place)
            if waiting and not undecidable and audience.kind == "person":
                await self._check_person(audience.id, place)
            too_few = None if undecidable else await self._find_too_few(waiting, review)
        except (RateLimited, Unreachable, LookupFailed) as error:
            return LookupFailed(f"whether somebody is left who may decide is not known: {error}")
        if undecidable:
            name = next(one.name for one in waiting if one.key in undecidable)
            raise NoDeciderLeft(f"nobody is left who may decide on {name}", undecidable)
        return too_few

    async def _find_too_few(
        self, waiting: Sequence[Action], review: Review
    ) -> TooFewDeciders | None:
        """What too few people are left to approve, even after the steps that are still to come. They can
        still reject it, so its card is shown. An agent names the requester, and must not open it to others
        by that.
        """
        for action in waiting:
            if not {"approve", "edit", "respond"} & {*action.config.allowed_decisions}:
                continue
            quorum, excluded = action.route.reviewers.quorum, excluded_ids(review, action)
            for grants in (action.grants, (*action.grants, *action.coming_grants)):
                left = await self._directory.deciders_left(grants, quorum, excluded)
                if left == "enough":
                    break
            else:
                return TooFewDeciders(f"too few people are left who may approve {action.name}")
        return None

    async def undecidable(
        self, review: Review, place: Place, *, is_lost: bool = False
    ) -> dict[str, tuple[Grant, ...]]:
        """What waits there and nobody is left to decide, by the actions' keys, with their grants. `is_lost`:
        the place can't be reached, so its members don't count. Raises ChannelError where that is not known.
        """
        lost, found = place if is_lost else None, dict[str, tuple[Grant, ...]]()
        for action in waiting_actions(review, place):
            if await self._directory.deciders_left(action.grants, lost=lost) == "nobody":
                found[action.key] = action.grants
        return found

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
