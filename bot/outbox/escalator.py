"""Applies what is due: escalations, reminders, deadlines, ended leases. Several bots may run it
in parallel.
"""

from __future__ import annotations

import asyncio
import logging

from hitl_core.errors import HitlError, safe_message
from hitl_core.failpoints import failpoint
from hitl_core.review import Reviews

log = logging.getLogger(__name__)

#: How often the index is read, in seconds. Nothing is late by much more than this.
INTERVAL = 0.25
#: How many reviews one tick handles, and how many in parallel.
BATCH = 100
CONCURRENCY = 8


class Escalator:
    def __init__(self, reviews: Reviews, *, interval: float = INTERVAL) -> None:
        self._reviews, self._interval = reviews, interval
        self._broken: set[str] = set()

    async def run(self) -> None:
        """Runs until cancelled. A crash loses nothing: what is due stays in the index until it is done."""
        while True:
            try:
                full = await self.tick() >= BATCH
            except HitlError as error:
                log.warning("the index of due reviews could not be read: %s", error)
                full = False
            if not full:
                await asyncio.sleep(self._interval)

    async def tick(self) -> int:
        """Apply what is due now. Returns how many reviews changed.

        Reviews that fail stay at the front of the index; the batch is larger by their number, so they don't
        block others.
        """
        due = await self._reviews.store.due_reviews(BATCH + len(self._broken))
        if due:
            await failpoint("escalator.after_peek")
        self._broken.intersection_update(due)
        limit = asyncio.Semaphore(CONCURRENCY)
        return sum(await asyncio.gather(*(self._fire(review_id, limit) for review_id in due)))

    async def _fire(self, review_id: str, limit: asyncio.Semaphore) -> bool:
        """Returns whether the review changed. Never raises, so that the others are handled too."""
        async with limit:
            try:
                transition = await self._reviews.apply_due(review_id)
            except Exception as error:
                self._broken.add(review_id)
                log.warning(
                    "review %s: what is due could not be applied: %s",
                    review_id,
                    safe_message(error),
                )
                return False
        self._broken.discard(review_id)
        return transition is not None
