"""What a person did → a decision → what the person is told."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.directory import Directory
from hitl_core.errors import HitlError, Refused, ReviewNotFound, StoreError, StoreUnavailable
from hitl_core.failpoints import failpoint
from hitl_core.model import Place, Reviewer, Snapshot
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

    def __init__(self, reviews: Reviews, directory: Directory) -> None:
        self._reviews, self._directory = reviews, directory

    async def load(self, target: Target) -> Snapshot:
        """Raises Refused with a sentence, also where the store is away."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._reviews.load(target.review_id)
        except ReviewNotFound as error:
            raise Refused("gone", "This review is no longer kept.") from error
        except (TimeoutError, StoreUnavailable, StoreError) as error:
            log.warning("review %s could not be read: %s", target.review_id, error)
            raise Refused("unavailable", AWAY) from error

    async def decide(self, target: Target, proposal: Proposal, who: Reviewer, op: str) -> Reply:
        return await self._apply(target, who, op, lambda: self._decide(target, proposal, who, op))

    async def may_decide(self, target: Target, who: Reviewer, op: str = "") -> Snapshot:
        """For what opens or reads a form: raises Refused where the answer could only be refused. An `op` that
        was stored before is let through, so that sending it again gets the same answer.
        """
        snapshot = await self.may_see(target, who)
        action = snapshot.review.action(target.action)
        if action is None:
            raise Refused("unknown_action", "This review has no such action.")
        if op not in snapshot.review.ops:
            transitions.check_open(snapshot.review, action, target.revision, snapshot.now)
        return snapshot

    async def may_see(self, target: Target, who: Reviewer) -> Snapshot:
        """Raises Refused: whoever may not decide is shown nothing."""
        self._directory.admit(who)
        return await self._permitted(target, who)

    async def escalate(
        self, target: Target, conversation: str, ts: str, who: Reviewer, op: str
    ) -> Reply:
        """Everything that waits on the card in this conversation, one step on. The target's revision is
        how many steps that card showed.
        """

        async def act() -> None:
            snapshot = await self.load(target)
            place = _place_of(snapshot, conversation, ts)
            await self._directory.check(who, snapshot, [place])
            await self._reviews.change(
                target.review_id,
                op,
                lambda r, now: transitions.escalate(r, place, who, now, taken=target.revision),
            )

        return await self._apply(target, who, op, act)

    async def resolve(self, target: Target, answer: DoubtAnswer, who: Reviewer, op: str) -> Reply:
        """The target's revision is the attempt that the card asked about."""

        async def act() -> None:
            await self._permitted(target, who)
            await self._reviews.change(
                target.review_id,
                op,
                lambda r, now: execution.resolve(
                    r, target.action, answer, who, now, attempt=target.revision
                ),
            )

        return await self._apply(target, who, op, act)

    async def _permitted(self, target: Target, who: Reviewer) -> Snapshot:
        """The review, where this person may decide. A click can be faster than the note of where its card
        stands: whoever would be refused for want of it is looked at again for a moment.
        """
        end = time.monotonic() + NOTED
        while True:
            snapshot = await self.load(target)
            review = snapshot.review
            call = review.call(target.action)
            places = review.places_of(call) if call else review.places
            try:
                await self._directory.check(who, snapshot, places)
                return snapshot
            except Refused:
                if set(places) <= set(snapshot.posts) or time.monotonic() > end:
                    raise
            await asyncio.sleep(0.02)

    async def _decide(self, target: Target, proposal: Proposal, who: Reviewer, op: str) -> None:
        seen = await self._permitted(target, who)
        await failpoint("bot.before_commit")
        await self._reviews.decide(target.review_id, target.action, proposal, who, op, seen)
        await failpoint("bot.after_commit")

    async def _apply(
        self, target: Target, who: Reviewer, op: str, act: Callable[[], Awaitable[None]]
    ) -> Reply:
        """Within the time that a click has; every refusal is a sentence, and the log has no arguments."""
        try:
            self._directory.admit(who)
            async with asyncio.timeout(PATIENCE):
                await act()
        except Refused as refused:
            log.info("review %s: %s refused %s", target.review_id, refused.code, who.id)
            return Reply(refused.code, str(refused))
        except (TimeoutError, StoreUnavailable) as error:
            log.warning("review %s: a click could not be stored: %s", target.review_id, error)
            return Reply("unavailable", UNKNOWN)
        except HitlError as error:
            log.error("review %s: a click failed: %s", target.review_id, error)
            return Reply("unavailable", AWAY)
        return Reply("ok")


def _place_of(snapshot: Snapshot, conversation: str, ts: str) -> Place:
    for place, ref in snapshot.posts.items():
        if (ref.conversation, ref.ts) == (conversation, ts):
            return place
    raise Refused("gone", "This review doesn't stand here any more.")
