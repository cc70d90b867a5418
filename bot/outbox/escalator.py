"""What is due → escalate, remind, expire, or lapse: any number of bots may do this side by side."""

from __future__ import annotations

import asyncio
import logging

from hitl_core.errors import HitlError, safe_message
from hitl_core.failpoints import failpoint
from hitl_core.review.service import Reviews

log = logging.getLogger(__name__)

#: How often the index is looked at, in seconds: nothing is late by much more than this.
INTERVAL = 0.25
#: How many reviews one look takes up, and how many of them at once.
BATCH = 100
CONCURRENCY = 8


class Escalator:
    def __init__(self, reviews: Reviews, *, interval: float = INTERVAL) -> None:
        self._reviews, self._interval = reviews, interval
        self._broken: set[str] = set()

    async def run(self) -> None:
        """For ever. A crash loses nothing: what is due stays in the index until it was done."""
        while True:
            try:
                full = await self.tick() >= BATCH
            except HitlError as error:
                log.warning("what is due could not be read: %s", error)
                full = False
            if not full:
                await asyncio.sleep(self._interval)

    async def tick(self) -> int:
        """Do what is due now; the answer is how many reviews something was done to.

        Those of which nothing can be done stay in front of the index, and take nobody's turn.
        """
        due = await self._reviews.store.due_reviews(BATCH + len(self._broken))
        if due:
            await failpoint("escalator.after_peek")
        self._broken.intersection_update(due)
        limit = asyncio.Semaphore(CONCURRENCY)
        return sum(await asyncio.gather(*(self._fire(review_id, limit) for review_id in due)))

    async def _fire(self, review_id: str, limit: asyncio.Semaphore) -> bool:
        """Whether anything came of it. It raises nothing: the others have their turn as well."""
        async with limit:
            try:
                transition = await self._reviews.apply_due(review_id)
            except Exception as error:
                self._broken.add(review_id)
                log.warning(
                    "review %s: what is due could not be done: %s", review_id, safe_message(error)
                )
                return False
        self._broken.discard(review_id)
        return transition is not None
