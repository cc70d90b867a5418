"""What a person did → a decision → what the person is told."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from bot.card import Card, card
from bot.channel import of_copy
from bot.directory import OUTSIDE, Directory
from hitl_core.errors import HitlError, Refused, ReviewNotFound, StoreError, StoreUnavailable
from hitl_core.failpoints import failpoint
from hitl_core.model import (
    DEFAULT_PLACE,
    Action,
    DecisionType,
    Grant,
    MessageRef,
    Place,
    Review,
    Reviewer,
    Reviewers,
    Snapshot,
)
from hitl_core.review import execution, transitions
from hitl_core.review.execution import DoubtAnswer
from hitl_core.review.service import Reviews
from hitl_core.review.transitions import Proposal

log = logging.getLogger(__name__)

#: Slack shows a failure after 3 s; the sentence must be on its way before.
PATIENCE = 1.8
#: How long the note of a message that Slack shows already may take, in seconds.
NOTED = 0.5

AWAY = "The store can't be reached, so nothing was changed. Press again in a moment: it is safe."
UNKNOWN = "It is not known whether this was stored in time. Press again: it counts only once."

#: Refusals that say nothing of who tried what: a slip that can be mended, or trouble of our own.
UNAUDITED = frozenset(
    {
        "bad_answer",
        "busy",
        "gone",
        "invalid_answer",
        "invalid_args",
        "message_required",
        "unavailable",
        "unchanged",
        "unknown_members",
        "unread",
    }
)


@dataclass(frozen=True)
class Target:
    """What a button is about: `revision` is the one that its card showed."""

    review_id: str
    action: str
    revision: int


@dataclass(frozen=True)
class Reply:
    """`code` is "ok", "unavailable", or why it was refused; `text` is one sentence for the person, empty
    where the card itself says it.
    """

    code: str
    text: str = ""


class Inbox:
    """`op` names one click or submission: the same one counts once, however often it arrives."""

    def __init__(
        self, reviews: Reviews, directory: Directory, cut: Callable[[Card], Collection[str]]
    ) -> None:
        """`cut` says which actions a card doesn't show whole."""
        self._reviews, self._directory, self._cut = reviews, directory, cut

    async def who(self, user_id: str, team: str, name: str) -> Reviewer:
        """A clicking person. `name` is what is known of them, should nobody be able to look it up."""
        return await self._directory.reviewer(user_id, team, name)

    async def load(self, review_id: str) -> Snapshot:
        """Raises Refused with a sentence, also where the store is away."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._reviews.load(review_id)
        except ReviewNotFound as error:
            raise Refused("gone", "This review is no longer kept.") from error
        except (TimeoutError, StoreUnavailable, StoreError) as error:
            log.warning("review %s could not be read: %s", review_id, error)
            raise Refused("unavailable", AWAY) from error

    async def decide(self, target: Target, proposal: Proposal, who: Reviewer, op: str) -> Reply:
        async def act() -> None:
            seen = await self._permitted(target.review_id, [target.action], who)
            action = seen.review.action(target.action)
            if action is not None and op not in seen.review.ops:
                self._check_read(seen, action, proposal, who)
            lapsed = await self._directory.lapsed(action, seen) if action else ()
            await failpoint("bot.before_commit")
            await self._reviews.decide(
                target.review_id, target.action, proposal, who, op, seen, lapsed=lapsed
            )
            await failpoint("bot.after_commit")

        return await self._apply(target.review_id, target.action, who, op, act)

    async def approve_all(
        self, review_id: str, revisions: Mapping[str, int], who: Reviewer, op: str
    ) -> Reply:
        """All actions whose revisions one card showed, by their keys: every one of them, or nothing."""

        async def act() -> None:
            seen = await self._permitted(review_id, list(revisions), who)
            proposals = {key: Proposal("approve", revision) for key, revision in revisions.items()}
            lapsed: dict[str, Collection[str]] = {}
            for key, proposal in proposals.items():
                if (action := seen.review.action(key)) is not None:
                    if op not in seen.review.ops:
                        self._check_read(seen, action, proposal, who)
                    lapsed[key] = await self._directory.lapsed(action, seen)
            await self._reviews.answer(review_id, proposals, who, op, lapsed=lapsed)

        return await self._apply(review_id, ",".join(revisions), who, op, act)

    async def may_decide(
        self, target: Target, kind: DecisionType, who: Reviewer, op: str = ""
    ) -> Snapshot:
        """For what opens or reads a form: raises Refused where the answer could only be refused. An `op` that
        was stored before is let through, so that sending it again gets the same answer.
        """
        snapshot = await self.may_see(target, who)
        action = snapshot.review.action(target.action)
        if action is None:
            raise Refused("unknown_action", "This review has no such action.")
        if op not in snapshot.review.ops:
            transitions.check_open(snapshot.review, action, target.revision, snapshot.now)
            transitions.check_voter(snapshot.review, action, kind, who)
        return snapshot

    async def may_see(self, target: Target, who: Reviewer) -> Snapshot:
        """Raises Refused: whoever may not decide is shown nothing."""
        return await self._permitted(target.review_id, [target.action], who)

    async def shown(self, review_id: str, who: Reviewer) -> Card:
        """The card of a review at its first place. Raises Refused for who may decide nothing of it."""
        snapshot = await self._seen_by(review_id, who)
        review = snapshot.review
        grants = [grant for action in review.actions for grant in action.grants]
        await self._directory.check(who, snapshot, grants)
        return card(review, review.places[0], snapshot.posts)

    async def has_read(self, target: Target, who: Reviewer) -> None:
        """This person has opened all that the card cut of this revision. Never raises: pressing again shows
        it once more.
        """
        mark = _read(target.action, target.revision, who)
        with contextlib.suppress(HitlError):
            await self._reviews.store.record_mark(target.review_id, mark)

    async def place_of(self, review_id: str, card: MessageRef | None) -> Place:
        """The place where this card stands; the review's first where it is none of its messages."""
        snapshot = await self.load(review_id)
        for place, ref in snapshot.posts.items():
            if card is not None and (ref.conversation, ref.ts) == (card.conversation, card.ts):
                return of_copy(place)
        return next(iter(snapshot.review.places), DEFAULT_PLACE)

    async def draft(self, key: str) -> bytes | None:
        """What was kept of a form that is not sent yet. Raises Refused."""
        async with _kept():
            return await self._reviews.store.draft(key)

    async def save_draft(self, key: str, data: bytes, ttl: float) -> None:
        """Raises Refused."""
        async with _kept():
            await self._reviews.store.save_draft(key, data, ttl)

    async def may_escalate(
        self, review_id: str, conversation: str, ts: str, who: Reviewer
    ) -> Place:
        """The place that this card is at. Raises Refused for who may not pass it on."""
        snapshot = await self._seen_by(review_id, who)
        place = _place_of(snapshot, conversation, ts)
        grants = [g for a in snapshot.review.actions if place in a.places for g in a.grants]
        here = Grant((place,), Reviewers())
        await self._directory.check(who, snapshot, [*grants, here])
        return place

    async def escalate(
        self,
        target: Target,
        conversation: str,
        ts: str,
        why: str | None,
        who: Reviewer,
        op: str,
    ) -> Reply:
        """Everything that waits on the card in this conversation, one step on. The target's revision is
        how many steps that card showed.
        """

        async def act() -> None:
            place = await self.may_escalate(target.review_id, conversation, ts, who)
            await self._reviews.change(
                target.review_id,
                op,
                lambda r, now: transitions.escalate(
                    r, place, who, now, taken=target.revision, why=why
                ),
            )

        return await self._apply(target.review_id, None, who, op, act)

    async def resolve(self, target: Target, answer: DoubtAnswer, who: Reviewer, op: str) -> Reply:
        """The target's revision is the attempt that the card asked about."""

        async def act() -> None:
            await self._permitted(target.review_id, [target.action], who)
            await self._reviews.change(
                target.review_id,
                op,
                lambda r, now: execution.resolve(
                    r, target.action, answer, who, now, attempt=target.revision
                ),
            )

        return await self._apply(target.review_id, target.action, who, op, act)

    async def _permitted(self, review_id: str, keys: Sequence[str], who: Reviewer) -> Snapshot:
        """The review, where this person may decide on each of these. A click can be faster than the note of
        where its card stands: whoever would be refused for want of it is looked at again for a moment.
        """
        end = time.monotonic() + NOTED
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

    async def _seen_by(self, review_id: str, who: Reviewer) -> Snapshot:
        """A stranger who guesses gets one answer, whether there is such a review or not."""
        try:
            return await self.load(review_id)
        except Refused as refused:
            if refused.code == "gone" and self._directory.is_stranger(who):
                raise Refused("not_permitted", OUTSIDE) from refused
            raise

    def _check_read(
        self, snapshot: Snapshot, action: Action, proposal: Proposal, who: Reviewer
    ) -> None:
        """Raises Refused("unread") where the policy wants all of it to be seen, and this person has not."""
        if proposal.type != "approve" or not action.config.must_read:
            return
        mark = _read(action.key, action.revision, who)
        review = snapshot.review
        if mark in snapshot.marks:
            return
        if any(action.key in self._cut(card(review, place)) for place in action.places):
            raise Refused(
                "unread",
                f"{action.request.name}: read all of it first, as the policy requires. Then press Approve.",
            )

    async def _apply(
        self,
        review_id: str,
        action: str | None,
        who: Reviewer,
        op: str,
        act: Callable[[], Awaitable[None]],
    ) -> Reply:
        """Within the time that a click has; every refusal is a sentence, and the log has no arguments."""
        try:
            async with asyncio.timeout(PATIENCE):
                await act()
        except Refused as refused:
            log.info("review %s: %s refused %s", review_id, refused.code, who.id)
            if refused.code not in UNAUDITED:
                await self._reviews.attempt(review_id, refused.code, who, op, action=action)
            return Reply(refused.code, str(refused))
        except (TimeoutError, StoreUnavailable) as error:
            log.warning("review %s: a click could not be stored: %s", review_id, error)
            return Reply("unavailable", UNKNOWN)
        except HitlError as error:
            log.error("review %s: a click failed: %s", review_id, error)
            return Reply("unavailable", AWAY)
        return Reply("ok")


@contextlib.asynccontextmanager
async def _kept() -> AsyncGenerator[None, None]:
    try:
        async with asyncio.timeout(PATIENCE):
            yield
    except (TimeoutError, StoreUnavailable, StoreError) as error:
        log.warning("a form could not be kept: %s", error)
        raise Refused("unavailable", AWAY) from error


def _grants(review: Review, key: str) -> tuple[Grant, ...]:
    """Who may decide on an action, or say what became of a call that was allowed without one."""
    if (action := review.action(key)) is not None:
        return action.grants
    call = review.call(key)
    places = review.places_of(call) if call else review.places
    return (Grant(places, Reviewers()),)


def _read(key: str, revision: int, who: Reviewer) -> str:
    return f"read:{key}:{revision}:{who.key}"


def _place_of(snapshot: Snapshot, conversation: str, ts: str) -> Place:
    for place, ref in snapshot.posts.items():
        if (ref.conversation, ref.ts) == (conversation, ts):
            return of_copy(place)
    raise Refused("gone", "This review doesn't stand here any more.")
