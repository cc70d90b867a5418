"""Looks at the places of what waits, and at those that it may be passed on to: a typo is found early."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator

from bot.channel import Channel, ChannelError, NotThere
from bot.health import Health
from bot.troubles import unusable
from hitl_core.errors import HitlError, ReviewNotFound, told
from hitl_core.model import Place, Review
from hitl_core.review.service import Reviews

log = logging.getLogger(__name__)

#: How often, in seconds: more often than a problem is forgotten. One bot looks, for all.
EVERY = 600.0
#: How many reviews and how many places are looked at each time.
MAX_REVIEWS, MAX_PLACES = 300, 50


class PlaceCheck:
    def __init__(self, reviews: Reviews, channel: Channel, health: Health) -> None:
        self._reviews, self._channel, self._health = reviews, channel, health
        self._reported: set[Place] = set()

    async def run(self) -> None:
        """Until it is cancelled: at the bot's start, and again and again."""
        while True:
            try:
                if await self._reviews.store.claim("places", EVERY / 2):
                    await self.look()
            except HitlError as error:
                log.warning("the places of what waits could not be looked at: %s", told(error))
            await asyncio.sleep(EVERY)

    async def look(self) -> None:
        """Raises StoreUnavailable."""
        found = dict.fromkeys([place async for place in self._waiting()])
        for place in list(found)[:MAX_PLACES]:
            try:
                await self._channel.check(place)
            except NotThere as error:
                name = self._channel.name_of(place)
                self._health.report("place", place, unusable(name, str(error)))
                self._reported.add(place)
            except ChannelError as error:
                log.info("whether %s can be used is not known: %s", place, error)
            else:
                if place in self._reported:
                    self._reported.discard(place)
                    self._health.resolve("place", place)

    async def _waiting(self) -> AsyncIterator[Place]:
        for review_id in await self._reviews.store.live(MAX_REVIEWS):
            try:
                review = (await self._reviews.load(review_id)).review
            except ReviewNotFound:
                continue
            for place in _places(review):
                yield place


def _places(review: Review) -> Iterator[Place]:
    """Where it waits, and where it may go."""
    for action in review.actions:
        if action.pending and not review.cancelled:
            yield from action.places
            yield from (step.to for step in action.route.escalate)
            if action.route.fallback:
                yield action.route.fallback
