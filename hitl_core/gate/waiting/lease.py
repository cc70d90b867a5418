"""The lease: one process has claimed a review, until it has not renewed the claim for LEASE seconds. Its
`Outcome` renews it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import NamedTuple
from uuid import uuid4

from hitl_core import telemetry
from hitl_core.errors import HitlError, Refused, ReviewNotFound, StoreUnavailable
from hitl_core.failpoints import failpoint
from hitl_core.gate.outcome import Outcome
from hitl_core.gate.waiting.listener import POLL_INTERVAL, ReviewListener
from hitl_core.model import Review, Snapshot
from hitl_core.review import Reviews, Transition, claims, ends_late

#: How long a claim stays valid after the last renewal by its process, in seconds.
LEASE = 30.0


class Claims(NamedTuple):
    """The claims of one process. `lease`, in seconds, is how long a claim stays valid without a renewal."""

    reviews: Reviews
    listener: ReviewListener
    agent: str
    process: str
    lease: float

    async def stop_waiting(self, review_id: str) -> None:
        """Record that this process no longer waits: otherwise no other process would claim the review while
        this one is alive. Tries until the store takes it.
        """

        def clear_waiter(review: Review, now: float) -> Transition:
            if review.waiting_process != self.process or self.listener.is_watched(review_id):
                raise Refused("not_waiting", "Another process waits for this review.")
            return claims.set_waiting_process(review, None, now)

        op = f"leave:{uuid4().hex}"
        while True:
            try:
                self.listener.check_open()
                await self.reviews.change(review_id, op, clear_waiter)
                return
            except StoreUnavailable:
                seconds = 1.0
            except Refused as refused:
                if refused.code not in ("held", "busy"):
                    return
                seconds = POLL_INTERVAL if refused.code == "held" else 1.0
            except HitlError:
                return
            await asyncio.sleep(seconds * random.uniform(0.5, 1))

    async def poll(self, review_id: str) -> tuple[Outcome | None, float]:
        """The outcome; or None, and the seconds until the next poll."""
        hinted = self.listener.take_snapshot(review_id)
        snapshot = hinted or await self.reviews.load(review_id)
        review = snapshot.review
        check_agent(review, self.agent)
        if review.status == "done":
            return Outcome(review, self.reviews, self.lease), 0.0
        if snapshot.held:
            return None, POLL_INTERVAL  # its release wakes this process
        if ends_late(review, snapshot.now):
            await self.reviews.apply_due(review_id)
            return None, 0.0
        ready = claims.ready_at(review)
        if ready is not None and ready <= snapshot.now:
            return await self.claim(review_id, snapshot), 0.2
        alive = self.reviews.store.is_alive
        if review.waiting_process != self.process and not await alive(review.waiting_process or ""):
            op = f"await:{uuid4().hex}"
            with contextlib.suppress(Refused):  # another process may have been faster
                await self.reviews.change(
                    review_id, op, lambda r, now: claims.set_waiting_process(r, self.process, now)
                )
        return None, POLL_INTERVAL if ready is None else min(POLL_INTERVAL, ready - snapshot.now)

    async def claim(self, review_id: str, snapshot: Snapshot) -> Outcome | None:
        """The outcome if this process has the review now; None if another process was faster, or if a call is
        in doubt.
        """
        await failpoint("gate.before_claim")
        attributes = telemetry.message_attributes(snapshot.review, "receive")
        parent = snapshot.review.trace
        try:
            with telemetry.span("claim hitl.reviews", attributes, kind="CONSUMER", parent=parent):
                applied = await self.reviews.change(
                    review_id,
                    f"claim:{uuid4().hex}",
                    lambda review, now: claims.claim(review, self.process, now, self.lease),
                    snapshot,
                )
        except Refused:
            return None
        await failpoint("gate.after_claim")
        review = applied.review
        mine = review.status == "claimed" and review.lease and review.lease.holder == self.process
        return Outcome(review, self.reviews, self.lease) if mine else None

    async def load_free(self, review_id: str) -> Snapshot | None:
        """The review; None while a living process waits for it: then no other process may claim it."""
        if self.listener.is_watched(review_id):
            return None
        snapshot = await self.reviews.load(review_id)
        waiter = snapshot.review.waiting_process
        if waiter in (None, self.process) or not await self.reviews.store.is_alive(waiter):
            return snapshot
        return None


def check_agent(review: Review, agent: str) -> None:
    """Raises ReviewNotFound for a review of another agent: its calls were approved for that one."""
    if review.agent != agent:
        raise ReviewNotFound(
            f"{agent!r:.80} has no review {review.id}: it is of {review.agent!r:.80}."
        )
