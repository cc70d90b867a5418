"""Checks what a person may see and decide, by the current review."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Sequence

from hitl_core.errors import Refused, ReviewNotFound
from hitl_core.model import (
    Action,
    Call,
    DecisionType,
    Grant,
    MessageRef,
    Place,
    Reviewer,
    Reviewers,
    Snapshot,
)
from hitl_core.review import WHOLE_REVIEW, Reviews, decisions, grants_for, holds, vote_count

from .. import click_budget, refusals
from ..people import Directory
from .digest_card import DigestAccess
from .other_actions import hide_others
from .press import ActionRef
from .read_marks import ReadMarks
from .refusal_audit import RefusalAudit
from .reply import PermittedSnapshot, place_of_message
from .store_timeout import store_timeout


class ReviewAccess:
    """Loads reviews for a person, after a check of that person's permission. A check that `seen` has from the
    same click is not repeated. Methods raise Refused, also if the store can't be reached.
    """

    def __init__(self, reviews: Reviews, directory: Directory) -> None:
        self._reviews, self._directory = reviews, directory
        self.read_marks = ReadMarks(reviews.store)
        self.refusal_audit = RefusalAudit(reviews)
        self.digests = DigestAccess(reviews)

    async def load(self, review_id: str) -> Snapshot:
        async with store_timeout(f"review {review_id}"):
            try:
                return await self._reviews.load(review_id)
            except ReviewNotFound as error:
                raise Refused("gone", refusals.NO_REVIEW) from error

    async def load_permitted(
        self,
        review_id: str,
        keys: Sequence[str],
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
        *,
        in_doubt: bool = False,
    ) -> PermittedSnapshot:
        """The review, if this person may decide on each of these actions; `in_doubt`: see `grants_for`. A
        click can arrive before the card's message is recorded. If only that is missing, the check is repeated
        for a moment.
        """
        start = time.monotonic()
        while True:
            snapshot = await self._load_for_person(review_id, who, seen)
            try:
                for key in keys:
                    grants = grants_for(snapshot.review, key, in_doubt=in_doubt)
                    snapshot = await self.check(snapshot, grants)
                return snapshot
            except Refused as refused:
                if refused.code != "unknown_members" or click_budget.is_over("post_record", start):
                    raise
            seen = None
            await asyncio.sleep(0.02)

    async def load_for_view(
        self, target: ActionRef, who: Reviewer, seen: PermittedSnapshot | None = None
    ) -> PermittedSnapshot:
        """The review, if this person may decide on the action, or on its doubt. Nobody else may see it."""
        async with self.refusal_audit.watch(target.review_id, who, target.action):
            keys = [target.action]
            return await self.load_permitted(target.review_id, keys, who, seen, in_doubt=True)

    async def load_for_decision(
        self,
        target: ActionRef,
        kind: DecisionType,
        who: Reviewer,
        op: str = "",
        seen: PermittedSnapshot | None = None,
    ) -> tuple[PermittedSnapshot, Action]:
        """The review and the action, for opening or reading a form. What would be refused on submit is
        refused here. An `op` that was already stored (in `review.ops`) is allowed.
        """
        async with self.refusal_audit.watch(target.review_id, who, target.action):
            snapshot = await self.load_permitted(target.review_id, [target.action], who, seen)
            action = snapshot.review.action(target.action)
            if action is None:
                raise Refused("unknown_action", refusals.NO_ACTION)
            if op not in snapshot.review.ops:
                holds.check_not_held(snapshot)
                decisions.check_decidable(
                    snapshot.review, action, target.revision, snapshot.now, target.seal
                )
                vote_count.check_voter(snapshot.review, action, kind, who)
                if kind == "edit":
                    decisions.check_not_run(snapshot.review, action)
            return snapshot, action

    async def load_for_escalation(
        self, review_id: str, message_ref: MessageRef, who: Reviewer
    ) -> tuple[PermittedSnapshot, Place]:
        """The review and the place of this card's message. Waits a moment if that is not recorded yet."""
        start = time.monotonic()
        while (
            place := place_of_message(
                snapshot := await self._load_for_person(review_id, who), message_ref
            )
        ) is None:
            if click_budget.is_over("post_record", start):
                raise Refused("gone", refusals.NOT_HERE)
            await asyncio.sleep(0.02)
        grants = [g for a in snapshot.review.actions if place in a.places for g in a.grants]
        here = Grant((place,), Reviewers())
        return await self.check(snapshot, [*grants, here]), place

    async def find_place(
        self,
        review_id: str,
        message_ref: MessageRef | None,
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
    ) -> tuple[PermittedSnapshot, Place]:
        """The review as this person may see it at the place of this card's message, or else at the first
        place where they may decide; and the place.
        """
        async with self.refusal_audit.watch(review_id, who):
            snapshot = await self.load_permitted(review_id, [WHOLE_REVIEW], who, seen)
        if (place := place_of_message(snapshot, message_ref)) is None:
            review = snapshot.review
            calls = [call for call in review.calls if review.action(call.key)]
            snapshot, call = await self._check_any(snapshot, [*calls, *review.calls_asked_about])
            place = review.places_of(call)[0]
        return await hide_others(snapshot, place, self.check, self._directory), place

    async def find_message(
        self, target: ActionRef, who: Reviewer
    ) -> tuple[PermittedSnapshot, Place, MessageRef]:
        """The review, and a message that shows the action where this person can read it."""
        snapshot = await self.load_for_view(target, who)
        action = snapshot.review.action(target.action)
        places = action.places if action else snapshot.review.places
        if (place := await self._directory.find_readable(who, snapshot, places)) is not None:
            return snapshot, place, snapshot.posts[place]
        raise Refused("gone", refusals.NOT_SHOWN_YET)

    async def load_at_place(
        self, review_id: str, place: Place, who: Reviewer, seen: PermittedSnapshot | None = None
    ) -> PermittedSnapshot:
        """The review as this person may see it at this place, if they may decide on an action there."""
        async with self.refusal_audit.watch(review_id, who):
            snapshot = await self.load_permitted(review_id, [WHOLE_REVIEW], who, seen)
        return await self.check_at_place(snapshot, place)

    async def check_at_place(self, snapshot: PermittedSnapshot, place: Place) -> PermittedSnapshot:
        """Like `load_at_place`, for a review that is loaded."""
        review = snapshot.review
        there = [c for c in review.calls if review.action(c.key) and place in review.places_of(c)]
        snapshot, _ = await self._check_any(snapshot, there)
        return await hide_others(snapshot, place, self.check, self._directory)

    async def first_decidable(
        self, snapshot: PermittedSnapshot, actions: Iterable[Action]
    ) -> Action | None:
        """The first of the actions on which this person may decide, or on which that is unknown now."""
        refused_grants = set[tuple[Grant, ...]]()
        for action in (one for one in actions if one.grants not in refused_grants):
            try:
                await self.check(snapshot, action.grants)
                return action
            except Refused as refused:
                if refused.code in refusals.UNKNOWN_CODES:
                    return action
                refused_grants.add(action.grants)
        return None

    async def ineligible_voters(
        self, snapshot: Snapshot, key: str, *, in_doubt: bool
    ) -> Collection[str]:
        """The keys of people who voted on this action, or on its doubt, and who may no longer decide."""
        review, action = snapshot.review, snapshot.review.action(key)
        voted = review.runs.get(key) if in_doubt else action
        if voted is None or not voted.votes:
            return ()
        known = self._directory.with_aliases
        votes = [vote.model_copy(update={"by": known(vote.by)}) for vote in voted.votes]
        grants = grants_for(review, key, in_doubt=in_doubt)
        gone = await self._directory.ineligible_voters([v.by for v in votes], snapshot, grants)
        return gone | vote_count.excluded_voters(review, action, votes) if action else gone

    async def _load_for_person(
        self, review_id: str, who: Reviewer, seen: PermittedSnapshot | None = None
    ) -> PermittedSnapshot:
        """Loads the review. An external person gets the same refusal, whether or not the review exists."""
        if seen is not None and (seen.review.id, seen.who) == (review_id, who):
            return seen
        try:
            snapshot = await self.load(review_id)
        except Refused as refused:
            if refused.code == "gone" and self._directory.is_external(who):
                raise Refused("not_permitted", refusals.ONLY_MEMBERS) from refused
            raise
        return PermittedSnapshot(**vars(snapshot), who=who)

    async def check(
        self, snapshot: PermittedSnapshot, grants: Iterable[Grant]
    ) -> PermittedSnapshot:
        """The same snapshot with this check. Raises Refused if the person may not decide by these grants."""
        grants = tuple(grants)
        if snapshot.permits(grants):
            return snapshot
        await self._directory.check_can_decide(snapshot.who, snapshot, grants)
        return snapshot.with_check(grants)

    async def _check_any(
        self, snapshot: PermittedSnapshot, calls: Sequence[Call]
    ) -> tuple[PermittedSnapshot, Call]:
        """The first of these calls on which this person may decide. If there is none, but that is unknown for
        one of them, it is unknown.
        """
        refusal = Refused("gone", refusals.NO_PART_HERE)
        for call in calls:
            try:
                return await self.check(snapshot, snapshot.review.grants_of(call)), call
            except Refused as refused:
                refusal = refusal if refusal.code in refusals.UNKNOWN_CODES else refused
        raise refusal
