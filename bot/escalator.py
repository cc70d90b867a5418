"""What is due → escalate, expire, or lapse: any number of bots may do this side by side."""

from __future__ import annotations

import asyncio
import logging

from hitl_core.errors import HitlError, told
from hitl_core.failpoints import failpoint
from hitl_core.review.service import Reviews

log = logging.getLogger(__name__)

#: How often the index is looked at, in seconds: nothing is late by more than this.
EVERY = 1.0
BATCH = 100


class Escalator:
    def __init__(self, reviews: Reviews, *, every: float = EVERY) -> None:
        self._reviews, self._every = reviews, every

    async def run(self) -> None:
        """For ever. A crash loses nothing: what is due stays in the index until it was done."""
        while True:
            try:
                full = await self.tick() == BATCH
            except HitlError as error:
                log.warning("what is due could not be read: %s", error)
                full = False
            if not full:
                await asyncio.sleep(self._every)

    async def tick(self) -> int:
        """Do what is due now; the answer is how many reviews needed no second look."""
        due = await self._reviews.store.due(BATCH)
        if due:
            await failpoint("escalator.after_peek")
        done = 0
        for review_id in due:
            try:
                await self._reviews.fire(review_id)
                done += 1
            except Exception as error:
                log.warning("review %s: what is due could not be done: %s", review_id, told(error))
        return done
