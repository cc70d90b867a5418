"""Applies due timers: escalations, reminders, deadlines, ended leases."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from hitl_core.errors import StoreUnavailable, safe_message
from hitl_core.failpoints import failpoint
from hitl_core.model import short_id
from hitl_core.review import Reviews
from hitl_core.store import parse_partition

from ..health import Health

log = logging.getLogger(__name__)

#: How often the index is read, in seconds. A timer is late by about this time at most.
TIMERS_INTERVAL = 0.25
#: How many reviews one tick handles, and how many of them in parallel.
BATCH = 100
CONCURRENCY = 8
#: If the timers of a review fail this often, that is a problem, and they are tried less often: after the
#: first pause, in seconds, then after twice as long, up to the longest pause.
MAX_FAILURES = 5
#: The subject of the problem that the index can't be read.
_INDEX, _UNREAD = "index", "Deadlines, reminders and escalations can't be applied"
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


class DueTimers:
    """Several bots may run it in parallel. A deadline is never given up, so there are no dead letters: a
    timer that fails stays in the index, and people are told.
    """

    def __init__(
        self,
        reviews: Reviews,
        health: Health,
        *,
        interval: float = TIMERS_INTERVAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reviews, self._interval = reviews, interval
        self._health, self._failing = health, _FailingReviews(health, clock)

    async def run(self) -> None:
        """Runs until cancelled. A crash loses nothing: what is due stays in the index until it is done."""
        while True:
            is_full = False
            with self._health.report_errors("timer", _INDEX, _UNREAD):
                is_full = await self.tick() >= BATCH
            if not is_full:
                await asyncio.sleep(self._interval)

    async def tick(self) -> int:
        """Apply what is due now. Returns how many reviews changed.

        Reviews that fail stay at the front of the index. So the batch grows by their number, and they don't
        block others.
        """
        missing = set[int]()  # what these partitions hold waits, and `LossWatch` reports it
        due = await self._reviews.store.due_reviews(BATCH + len(self._failing), missing)
        if due:
            await failpoint("timers.after_peek")
        self._failing.keep(due, missing)
        limit = asyncio.Semaphore(CONCURRENCY)
        tried = [review_id for review_id in due if self._failing.may_try(review_id)]
        return sum(await asyncio.gather(*(self._fire(review_id, limit) for review_id in tried)))

    async def _fire(self, review_id: str, limit: asyncio.Semaphore) -> bool:
        """Apply the due timers of a review. Returns whether the review changed. Never raises, so that the
        others are handled too.
        """
        async with limit:
            try:
                transition = await self._reviews.apply_due(review_id)
            except Exception as error:
                why = safe_message(error)
                log.warning("review %s: what is due could not be applied: %s", review_id, why)
                self._failing.note(review_id, why, is_own=not isinstance(error, StoreUnavailable))
                return False
        self._failing.forget(review_id)
        return transition is not None


@dataclass
class _Failure:
    """`count`: how often it failed for its own reason. `pause`: seconds until the next try, at `next_at`."""

    count: int = 0
    pause: float = 0.0
    next_at: float = 0.0


class _FailingReviews:
    def __init__(self, health: Health, clock: Callable[[], float]) -> None:
        self._health, self._clock = health, clock
        self._failures: dict[str, _Failure] = {}

    def __len__(self) -> int:
        return len(self._failures)

    def keep(self, due: Collection[str], missing: Collection[int]) -> None:
        """Forget all reviews that are not in `due` any more, unless they are of a `missing` partition."""
        for review_id in self._failures.keys() - set(due):
            if parse_partition(review_id) not in missing:
                self.forget(review_id)

    def may_try(self, review_id: str) -> bool:
        failure = self._failures.get(review_id)
        return failure is None or failure.next_at <= self._clock()

    def note(self, review_id: str, why: str, *, is_own: bool) -> None:
        """Note a failure. `is_own`: the reason is the review, not the store, which is another problem."""
        failure = self._failures.setdefault(review_id, _Failure())
        failure.count += is_own
        if failure.count < MAX_FAILURES:
            return
        failure.pause = min(max(2 * failure.pause, FIRST_PAUSE), LONGEST_PAUSE)
        failure.next_at = self._clock() + failure.pause
        self._health.report(
            "timer",
            review_id,
            f"Deadlines, reminders and escalations of the review {short_id(review_id)} can't be applied:"
            f" {why.rstrip('.')}. It waits; decide or cancel it with “hitl reviews”.",
        )

    def forget(self, review_id: str) -> None:
        if self._failures.pop(review_id, None) is not None:
            self._health.resolve("timer", review_id)
