"""Finds reviews that nobody can decide any more, although their cards were shown: people leave, and
conversations are archived.
"""

from __future__ import annotations

import asyncio
import logging

from hitl_core.errors import HitlError, ReviewNotFound, safe_message
from hitl_core.review import Reviews, open_items
from hitl_core.store import LiveReview

from .delivery import Delivery

log = logging.getLogger(__name__)

#: How often, in seconds. One bot checks for all.
INTERVAL = 300.0
#: How many reviews are checked each time; the next ones then.
MAX_REVIEWS = 300


class DeciderCheck:
    def __init__(self, reviews: Reviews, delivery: Delivery) -> None:
        self._reviews, self._delivery = reviews, delivery
        self._after: LiveReview | None = None

    async def run(self) -> None:
        """Runs until cancelled: at the start and then every INTERVAL."""
        while True:
            try:
                if await self._reviews.store.try_lock("deciders", INTERVAL / 2):
                    await self.check_page()
            except HitlError as error:
                log.warning("it could not be checked who may decide: %s", safe_message(error))
            await asyncio.sleep(INTERVAL)

    async def check_page(self) -> None:
        """The next page of the reviews that are not done. Raises StoreUnavailable."""
        page = await self._reviews.store.live_reviews(MAX_REVIEWS, self._after)
        self._after = page[-1] if len(page) == MAX_REVIEWS else None
        for each in page:
            try:
                snapshot = await self._reviews.load_outline(each.id)
            except ReviewNotFound:
                continue
            shown = {one.base for one in snapshot.posts}
            for item in open_items(snapshot.review):
                for place in shown.intersection(item.places):
                    await self._delivery.check_deciders(snapshot, place)
