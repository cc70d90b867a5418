"""Claims: which process of the agent has a settled review. A claim is a lease."""

from __future__ import annotations

import contextlib
from typing import NamedTuple
from uuid import uuid4

from hitl_core.errors import HitlError, Refused
from hitl_core.failpoints import failpoint
from hitl_core.gate.outcome import Outcome
from hitl_core.gate.waiting.listener import POLL_INTERVAL, ReviewListener
from hitl_core.model import Review, Snapshot
from hitl_core.review import Reviews, Transition, claims


class Claims(NamedTuple):
    """The claims of one process. `lease`, in seconds, is how long a claim stays valid without a renewal."""

    reviews: Reviews
    listener: ReviewListener
    process: str
    lease: float

    async def stop_waiting(self, review_id: str) -> None:
        """Record that this process no longer waits: otherwise no other process would claim the review while
        this one is alive.
        """

        def clear_waiter(review: Review, now: float) -> Transition:
            if review.waiter != self.process or self.listener.is_watched(review_id):
                raise Refused("not_waiting", "Another process waits for this review.")
            return claims.set_waiter(review, None, now)

        with contextlib.suppress(HitlError):
            await self.reviews.change(review_id, f"leave:{uuid4().hex}", clear_waiter)

    async def poll(self, review_id: str) -> tuple[Outcome | None, float]:
        """The outcome, or None and for how many seconds to wait before the next poll."""
        snapshot = await self.reviews.load(review_id)
        review = snapshot.review
        if review.status == "done":
            return Outcome(review, self.reviews, self.lease), 0.0
        ready = claims.ready_at(review)
        if ready is not None and ready <= snapshot.now:
            return await self.claim(review_id, snapshot), 0.2
        alive = self.reviews.store.is_alive
        if review.waiter != self.process and not await alive(review.waiter or ""):
            op = f"await:{uuid4().hex}"
            with contextlib.suppress(Refused):  # another process may have been faster
                await self.reviews.change(
                    review_id, op, lambda r, now: claims.set_waiter(r, self.process, now)
                )
        return None, POLL_INTERVAL if ready is None else min(POLL_INTERVAL, ready - snapshot.now)

    async def claim(self, review_id: str, snapshot: Snapshot | None = None) -> Outcome | None:
        """The outcome if this process has the review now; None if another process was faster, or if a call is
        in doubt.
        """
        await failpoint("gate.before_claim")
        try:
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

    async def has_waiter(self, review_id: str) -> bool:
        """Whether a living process waits for the review: then no other process may claim it."""
        if self.listener.is_watched(review_id):
            return True
        waiter = (await self.reviews.load(review_id)).review.waiter
        return waiter not in (None, self.process) and await self.reviews.store.is_alive(
            waiter or ""
        )
