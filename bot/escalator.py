"""What is due → escalate, remind, expire, or lapse: any number of bots may do this side by side."""

from __future__ import annotations

import asyncio
import logging

from hitl_core.errors import HitlError, told
from hitl_core.failpoints import failpoint
from hitl_core.review.service import Reviews

log = logging.getLogger(__name__)

#: How often the index is looked at, in seconds: nothing is late by much more than this.
EVERY = 0.25
#: How many reviews one look takes up, and how many of them at once.
BATCH = 100
AT_ONCE = 8


class Escalator:
    def __init__(self, reviews: Reviews, *, every: float = EVERY) -> None:
        self._reviews, self._every = reviews, every
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
                await asyncio.sleep(self._every)

    async def tick(self) -> int:
        """Do what is due now; the answer is how many reviews something was done to.

        Those of which nothing can be done stay in front of the index, and take nobody's turn.
        """
        due = await self._reviews.store.due(BATCH + len(self._broken))
        if due:
            await failpoint("escalator.after_peek")
        self._broken.intersection_update(due)
        turns = asyncio.Semaphore(AT_ONCE)
        return sum(await asyncio.gather(*(self._fire(review_id, turns) for review_id in due)))

    async def _fire(self, review_id: str, turns: asyncio.Semaphore) -> bool:
        """Whether anything came of it. It raises nothing: the others have their turn as well."""
        async with turns:
            try:
                fired = await self._reviews.fire(review_id)
            except Exception as error:
                self._broken.add(review_id)
                log.warning("review %s: what is due could not be done: %s", review_id, told(error))
                return False
        self._broken.discard(review_id)
        return fired is not None
