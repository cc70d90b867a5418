"""Who may see what, and may decide on it: by the review as it is now."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Sequence

from bot import budget
from bot.card import Card, card
from bot.channel import of_copy
from bot.click import AWAY, PATIENCE, Target, Unread
from bot.directory import OUTSIDE, Directory
from hitl_core.errors import HitlError, Refused, ReviewNotFound, StoreError, StoreUnavailable
from hitl_core.model import (
    Action,
    Call,
    DecisionType,
    Grant,
    MessageRef,
    Place,
    Review,
    Reviewer,
    Reviewers,
    Snapshot,
)
from hitl_core.review import transitions
from hitl_core.review.service import Reviews
from hitl_core.review.transitions import Proposal

log = logging.getLogger(__name__)

#: How long the note of a message that Slack shows already may take, in seconds.
NOTED = 0.5
#: Stands for an action in what is about a whole review.
ALL = "0"


class Access:
    """`cut` says which actions a card doesn't show whole. Methods raise Refused with a sentence, also where
    the store is away.
    """

    def __init__(
        self, reviews: Reviews, directory: Directory, cut: Callable[[Card], Collection[str]]
    ) -> None:
        self._reviews, self._directory, self._cut = reviews, directory, cut

    async def load(self, review_id: str) -> Snapshot:
        try:
            async with budget.within(PATIENCE):
                return await self._reviews.load(review_id)
        except ReviewNotFound as error:
            raise Refused("gone", "This review is no longer kept.") from error
        except (TimeoutError, StoreUnavailable, StoreError) as error:
            log.warning("review %s could not be read: %s", review_id, error)
            raise Refused("unavailable", AWAY) from error

    async def to(self, review_id: str, keys: Sequence[str], who: Reviewer) -> Snapshot:
        """The review, where this person may decide on each of these. A click can be faster than the note of
        where its card stands: whoever would be refused for want of it is looked at again for a moment.
        """
        end = time.monotonic() + budget.part(NOTED)
        while True:
            snapshot = await self._seen_by(review_id, who)
            try:
                for key in keys:
                    await self._directory.check(who, snapshot, _grants(snapshot.review, key))
                return snapshot
            except Refused as refused:
                if refused.code != "unknown_members" or time.monotonic() > end:
                    raise
            await asyncio.sleep(0.02)

    async def may_see(self, target: Target, who: Reviewer) -> Snapshot:
        """Whoever may not decide is shown nothing."""
        return await self.to(target.review_id, [target.action], who)

    async def may_decide(
        self, target: Target, kind: DecisionType, who: Reviewer, op: str = ""
    ) -> Snapshot:
        """For what opens or reads a form: refuses where the answer could only be refused. An `op` that was
        stored before (it is in `review.ops`) is let through.
        """
        snapshot = await self.may_see(target, who)
        action = snapshot.review.action(target.action)
        if action is None:
            raise Refused("unknown_action", "This review has no such action.")
        if op not in snapshot.review.ops:
            transitions.check_open(
                snapshot.review, action, target.revision, snapshot.now, target.seal
            )
            transitions.check_voter(snapshot.review, action, kind, who)
            self.check_read(snapshot, action, kind, who)
        return snapshot

    async def may_escalate(
        self, review_id: str, at: MessageRef, who: Reviewer
    ) -> tuple[Snapshot, Place]:
        """The place that this card is at. A press can be faster than the note of it."""
        end = time.monotonic() + budget.part(NOTED)
        while (place := _place_of(snapshot := await self._seen_by(review_id, who), at)) is None:
            if time.monotonic() > end:
                raise Refused("gone", "This review doesn't stand here any more.")
            await asyncio.sleep(0.02)
        grants = [g for a in snapshot.review.actions if place in a.places for g in a.grants]
        here = Grant((place,), Reviewers())
        await self._directory.check(who, snapshot, [*grants, here])
        return snapshot, place

    async def shown(self, review_id: str, who: Reviewer) -> Card:
        """The card of a review at a place where this person may decide: the first."""
        snapshot = await self.to(review_id, [ALL], who)
        return card(snapshot.review, await self._place_for(snapshot, who), snapshot.posts)

    async def place_of(self, review_id: str, at: MessageRef | None, who: Reviewer) -> Place:
        """The place where this card stands; else one where this person may decide."""
        snapshot = await self.to(review_id, [ALL], who)
        place = _place_of(snapshot, at) if at else None
        return place or await self._place_for(snapshot, who)

    async def may_see_at(self, review_id: str, place: Place, who: Reviewer) -> Snapshot:
        """Whoever may decide something that stands at a place sees what stands there."""
        snapshot = await self.to(review_id, [ALL], who)
        review = snapshot.review
        there = [c for c in review.calls if review.action(c.key) and place in review.places_of(c)]
        await self._first_for(who, snapshot, there)
        return snapshot

    async def _place_for(self, snapshot: Snapshot, who: Reviewer) -> Place:
        """What stands at other places is not for them to see."""
        review = snapshot.review
        asked = [call for call in review.calls if review.action(call.key)]
        call = await self._first_for(who, snapshot, [*asked, *review.doubts])
        return review.places_of(call)[0]

    async def _first_for(self, who: Reviewer, snapshot: Snapshot, calls: Sequence[Call]) -> Call:
        """The first of these on which this person may decide."""
        refusal = Refused("gone", "Nothing of this review stands there.")
        for call in calls:
            try:
                await self._directory.check(who, snapshot, snapshot.review.grants_of(call))
                return call
            except Refused as refused:
                refusal = refused
        raise refusal

    async def lapsed(self, snapshot: Snapshot, key: str) -> Collection[str]:
        """Who voted on this action, or on what became of this call, and may no longer decide."""
        review = snapshot.review
        action, run = review.action(key), review.runs.get(key)
        votes = run.votes if run else action.votes if action else ()
        voters = [vote.by for vote in votes]
        return await self._directory.lapsed(voters, snapshot, _grants(review, key))

    async def is_entitled(
        self, snapshot: Snapshot, key: str, proposal: Proposal, who: Reviewer, op: str
    ) -> bool:
        """Whether this person may decide by the rule itself that an edit falls under, not only as the action
        was passed on to them. Not known is no. Raises Refused for an edit that the policy denies.
        """
        if op in snapshot.review.ops:
            return False
        grant = transitions.asks_anew(snapshot.review, key, proposal, snapshot.now)
        if grant is None:
            return False
        try:
            await self._directory.check(who, snapshot, [grant])
        except Refused:
            return False
        return True

    async def has_read(self, target: Target, who: Reviewer) -> None:
        """This person has opened all of this revision. Never raises: pressing again shows it once more."""
        mark = _read(target.action, target.revision, who)
        with contextlib.suppress(HitlError):
            await self._reviews.store.record_mark(target.review_id, mark)

    def check_read(
        self, snapshot: Snapshot, action: Action, kind: DecisionType, who: Reviewer
    ) -> None:
        """Raises Unread where the policy wants all of it to be seen before it is approved, this person has
        not opened it, and a card that they may have looked at doesn't show it whole.
        """
        approves = kind == "approve" or (kind == "edit" and action.route.reviewers.editor_approves)
        if not approves or not action.pending or not action.config.must_read:
            return
        if _read(action.key, action.revision, who) in snapshot.marks:
            return
        review = snapshot.review
        if any(action.key in self._cut(card(review, place)) for place in action.places):
            raise Unread(Target(review.id, action.key, action.revision), action.name)

    async def _seen_by(self, review_id: str, who: Reviewer) -> Snapshot:
        """A stranger who guesses gets one answer, whether there is such a review or not."""
        try:
            return await self.load(review_id)
        except Refused as refused:
            if refused.code == "gone" and self._directory.is_stranger(who):
                raise Refused("not_permitted", OUTSIDE) from refused
            raise


def _grants(review: Review, key: str) -> tuple[Grant, ...]:
    """Who may decide on an action, or on one of them, or say what became of a call that was allowed without
    asking.
    """
    if (action := review.action(key)) is not None:
        return action.grants
    if key == ALL:
        doubts = [grant for call in review.doubts for grant in review.grants_of(call)]
        return (*(grant for action in review.actions for grant in action.grants), *doubts)
    call = review.call(key)
    return review.grants_of(call) if call else (Grant(review.places, Reviewers()),)


def _place_of(snapshot: Snapshot, at: MessageRef) -> Place | None:
    for place, ref in snapshot.posts.items():
        if (ref.conversation, ref.ts) == (at.conversation, at.ts):
            return of_copy(place)
    return None


def _read(key: str, revision: int, who: Reviewer) -> str:
    return f"read:{key}:{revision}:{who.key}"
