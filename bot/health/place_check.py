"""Checks the places of pending reviews, and those of their escalations and fallbacks, to find a
typo early.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator

from hitl_core.errors import HitlError, ReviewNotFound, safe_message
from hitl_core.model import Place, Review
from hitl_core.review import Reviews

from ..channels.contract import ChannelError, NotFound
from ..channels.registry import Channels
from .delivery_problems import unusable_text
from .health import Health

log = logging.getLogger(__name__)

#: How often, in seconds: more often than FORGET_AFTER of a problem. One bot checks for all.
INTERVAL = 600.0
#: How many reviews and places are checked each time.
MAX_REVIEWS, MAX_PLACES = 300, 50


class PlaceCheck:
    def __init__(self, reviews: Reviews, channels: Channels, health: Health) -> None:
        self._reviews, self._channels, self._health = reviews, channels, health
        self._reported: set[Place] = set()

    async def run(self) -> None:
        """Runs until cancelled: at the start and then every INTERVAL."""
        while True:
            try:
                if await self._reviews.store.try_lock("places", INTERVAL / 2):
                    await self.check_places()
            except HitlError as error:
                log.warning(
                    "the places of pending reviews could not be checked: %s", safe_message(error)
                )
            await asyncio.sleep(INTERVAL)

    async def check_places(self) -> None:
        """Raises StoreUnavailable."""
        places = dict.fromkeys([place async for place in self._waiting_places()])
        for place in list(places)[:MAX_PLACES]:
            try:
                await self._channels.of_place(place).check_place(place)
            except NotFound as error:
                name = self._channels.name_of(place)
                self._health.report("place", place, unusable_text(name, error))
                self._reported.add(place)
            except ChannelError as error:
                log.info("it is not known whether %s can be used: %s", place, error)
            else:
                if place in self._reported:
                    self._reported.discard(place)
                    self._health.resolve("place", place)

    async def _waiting_places(self) -> AsyncIterator[Place]:
        for review_id in await self._reviews.store.live_ids(MAX_REVIEWS):
            try:
                review = (await self._reviews.load_outline(review_id)).review
            except ReviewNotFound:
                continue
            for place in _review_places(review):
                yield place


def _review_places(review: Review) -> Iterator[Place]:
    """The places where its actions wait, and where they may go."""
    for action in review.actions:
        if action.is_pending and not review.cancelled:
            yield from action.places
            yield from (step.to for step in action.route.escalate)
            if action.route.fallback:
                yield action.route.fallback
