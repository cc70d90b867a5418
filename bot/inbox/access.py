"""Checks what a person may see and decide, by the current review."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence

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
from hitl_core.review import Proposal, Reviews, decisions, transition

from .. import click_budget
from ..card import Card, build_card
from ..offload import offload_drawing
from ..people import ONLY_MEMBERS, Directory
from .commands import CLICK_TIMEOUT, STORE_UNAVAILABLE, ActionRef, ReadRequired

log = logging.getLogger(__name__)

#: How long to wait until a message that Slack already shows is recorded, in seconds.
POST_RECORD_WAIT = 0.5
#: The action key for a whole review.
WHOLE_REVIEW = "0"


class ReviewAccess:
    """Loads reviews for a person, after a check of their permission.

    `incomplete_actions` says which actions a card does not show completely. Methods raise Refused with a
    sentence, also if the store can't be reached.
    """

    def __init__(
        self,
        reviews: Reviews,
        directory: Directory,
        incomplete_actions: Callable[[Card], Collection[str]],
    ) -> None:
        self._reviews, self._directory, self._incomplete_actions = (
            reviews,
            directory,
            incomplete_actions,
        )

    async def load(self, review_id: str) -> Snapshot:
        try:
            async with click_budget.timeout(CLICK_TIMEOUT):
                return await self._reviews.load(review_id)
        except ReviewNotFound as error:
            raise Refused(
                "gone", "There is no such review, or it was deleted after its retention time."
            ) from error
        except (TimeoutError, StoreUnavailable, StoreError) as error:
            log.warning("review %s could not be read: %s", review_id, error)
            raise Refused("unavailable", STORE_UNAVAILABLE) from error

    async def load_permitted(self, review_id: str, keys: Sequence[str], who: Reviewer) -> Snapshot:
        """The review, if this person may decide on each of these actions. A click can be faster than the
        record of its card's message: if only that is missing, the check is repeated for a moment.
        """
        end = time.monotonic() + click_budget.scale(POST_RECORD_WAIT)
        while True:
            snapshot = await self._load_for_person(review_id, who)
            try:
                for key in keys:
                    await self._directory.check_can_decide(
                        who, snapshot, _grants(snapshot.review, key)
                    )
                return snapshot
            except Refused as refused:
                if refused.code != "unknown_members" or time.monotonic() > end:
                    raise
            await asyncio.sleep(0.02)

    async def load_for_view(self, target: ActionRef, who: Reviewer) -> Snapshot:
        """The review, if this person may decide on the action: nobody else may see it."""
        return await self.load_permitted(target.review_id, [target.action], who)

    async def load_for_decision(
        self, target: ActionRef, kind: DecisionType, who: Reviewer, op: str = ""
    ) -> Snapshot:
        """For opening or reading a form: refuses now what would be refused on submit. An `op` that was
        already stored (it is in `review.ops`) is allowed.
        """
        snapshot = await self.load_for_view(target, who)
        action = snapshot.review.action(target.action)
        if action is None:
            raise Refused("unknown_action", "This review has no such action.")
        if op not in snapshot.review.ops:
            transition.check_decidable(
                snapshot.review, action, target.revision, snapshot.now, target.seal
            )
            decisions.check_voter(snapshot.review, action, kind, who)
            await self.check_read(snapshot, [action], kind, who)
        return snapshot

    async def load_for_escalation(
        self, review_id: str, message_ref: MessageRef, who: Reviewer
    ) -> tuple[Snapshot, Place]:
        """The review and the place of this card's message. Waits a moment if that is not recorded yet."""
        end = time.monotonic() + click_budget.scale(POST_RECORD_WAIT)
        while (
            place := _place_of_message(
                snapshot := await self._load_for_person(review_id, who), message_ref
            )
        ) is None:
            if time.monotonic() > end:
                raise Refused("gone", "This review is no longer shown here.")
            await asyncio.sleep(0.02)
        grants = [g for a in snapshot.review.actions if place in a.places for g in a.grants]
        here = Grant((place,), Reviewers())
        await self._directory.check_can_decide(who, snapshot, [*grants, here])
        return snapshot, place

    async def find_card(self, review_id: str, who: Reviewer) -> Card:
        """The card of a review at the first place where this person may decide."""
        snapshot = await self.load_permitted(review_id, [WHOLE_REVIEW], who)
        place = await self._first_permitted_place(snapshot, who)
        return await offload_drawing(
            snapshot.review, lambda: build_card(snapshot.review, place, snapshot.posts)
        )

    async def find_place(
        self, review_id: str, message_ref: MessageRef | None, who: Reviewer
    ) -> Place:
        """The place of this card's message, else the first place where this person may decide."""
        snapshot = await self.load_permitted(review_id, [WHOLE_REVIEW], who)
        place = _place_of_message(snapshot, message_ref) if message_ref else None
        return place or await self._first_permitted_place(snapshot, who)

    async def load_at_place(self, review_id: str, place: Place, who: Reviewer) -> Snapshot:
        """The review, if this person may decide on an action at this place."""
        snapshot = await self.load_permitted(review_id, [WHOLE_REVIEW], who)
        review = snapshot.review
        there = [c for c in review.calls if review.action(c.key) and place in review.places_of(c)]
        await self._first_permitted_call(who, snapshot, there)
        return snapshot

    async def _first_permitted_place(self, snapshot: Snapshot, who: Reviewer) -> Place:
        """The first place where this person may decide. They may not see other places."""
        review = snapshot.review
        calls = [call for call in review.calls if review.action(call.key)]
        call = await self._first_permitted_call(who, snapshot, [*calls, *review.calls_in_doubt])
        return review.places_of(call)[0]

    async def _first_permitted_call(
        self, who: Reviewer, snapshot: Snapshot, calls: Sequence[Call]
    ) -> Call:
        """The first of these calls on which this person may decide."""
        refusal = Refused("gone", "No part of this review is shown there.")
        for call in calls:
            try:
                await self._directory.check_can_decide(
                    who, snapshot, snapshot.review.grants_of(call)
                )
                return call
            except Refused as refused:
                refusal = refused
        raise refusal

    async def ineligible_voters(self, snapshot: Snapshot, key: str) -> Collection[str]:
        """The keys of people who voted on this action or doubt and may no longer decide."""
        review = snapshot.review
        action, run = review.action(key), review.runs.get(key)
        votes = run.votes if run else action.votes if action else ()
        voters = [vote.by for vote in votes]
        return await self._directory.ineligible_voters(voters, snapshot, _grants(review, key))

    async def is_entitled(
        self, snapshot: Snapshot, key: str, proposal: Proposal, who: Reviewer, op: str
    ) -> bool:
        """Whether this person may decide by the rule that an edit falls under, not only by an escalation. If
        that is unknown, the answer is no. Raises Refused for an edit that the policy denies.
        """
        if op in snapshot.review.ops:
            return False
        grant = decisions.find_new_grant(snapshot.review, key, proposal, snapshot.now)
        if grant is None:
            return False
        try:
            await self._directory.check_can_decide(who, snapshot, [grant])
        except Refused:
            return False
        return True

    async def mark_read(self, target: ActionRef, who: Reviewer) -> None:
        """Records that this person opened all of this revision. Never raises: without the record it opens
        again.
        """
        mark = _read_mark(target.action, target.revision, who)
        with contextlib.suppress(HitlError):
            await self._reviews.store.record_mark(target.review_id, mark)

    async def check_read(
        self, snapshot: Snapshot, actions: Iterable[Action], kind: DecisionType, who: Reviewer
    ) -> None:
        """Raises ReadRequired if the policy requires approvers to read all of it, this person has not opened
        it, and a card of theirs does not show it completely.
        """
        unread = [
            action
            for action in actions
            if (kind == "approve" or (kind == "edit" and action.route.reviewers.editor_approves))
            and action.is_pending
            and action.config.must_read
            and _read_mark(action.key, action.revision, who) not in snapshot.marks
        ]
        if not unread:
            return
        review = snapshot.review
        cut_at = await offload_drawing(review, lambda: self._cut_actions(review, unread))
        for action in unread:
            if any(action.key in cut_at[place] for place in action.places):
                raise ReadRequired(ActionRef(review.id, action.key, action.revision), action.name)

    def _cut_actions(
        self, review: Review, actions: Iterable[Action]
    ) -> dict[Place, Collection[str]]:
        """The keys of actions that the card does not show completely, for each of their places."""
        places = {place for action in actions for place in action.places}
        return {place: self._incomplete_actions(build_card(review, place)) for place in places}

    async def _load_for_person(self, review_id: str, who: Reviewer) -> Snapshot:
        """Loads the review. An external person gets the same refusal whether the review exists or not."""
        try:
            return await self.load(review_id)
        except Refused as refused:
            if refused.code == "gone" and self._directory.is_external(who):
                raise Refused("not_permitted", ONLY_MEMBERS) from refused
            raise


def _grants(review: Review, key: str) -> tuple[Grant, ...]:
    """Who may decide on an action, on any action (WHOLE_REVIEW), or on the doubt of an allowed call."""
    if (action := review.action(key)) is not None:
        return action.grants
    if key == WHOLE_REVIEW:
        doubts = [grant for call in review.calls_in_doubt for grant in review.grants_of(call)]
        return (*(grant for action in review.actions for grant in action.grants), *doubts)
    call = review.call(key)
    return review.grants_of(call) if call else (Grant(review.places, Reviewers()),)


def _place_of_message(snapshot: Snapshot, message_ref: MessageRef) -> Place | None:
    for place, ref in snapshot.posts.items():
        if ref.key == message_ref.key:
            return place.base
    return None


def _read_mark(key: str, revision: int, who: Reviewer) -> str:
    return f"read:{key}:{revision}:{who.key}"
