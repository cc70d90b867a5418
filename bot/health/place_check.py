"""Finds places of waiting reviews that can't be used, before anybody is asked there, and reviews with which
their agent can't go on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

from hitl_core.model import Place, Review, short_id
from hitl_core.review import Reviews, open_items
from hitl_core.store import LiveReview, parse_partition

from ..channels.contract import ChannelError, NotFound
from ..channels.registry import Channels
from .delivery_problems import unusable_text
from .health import Health
from .readable_reviews import ReadableReviews

log = logging.getLogger(__name__)

#: The time between two checks, in seconds. It is shorter than FORGET_AFTER of a problem. One bot checks for
#: all.
INTERVAL = 600.0
#: How many reviews one check reads. The next check continues with the next ones.
MAX_REVIEWS = 1000
#: The pause after each look-up of a place, in seconds, and the most of them in one check: clicks and cards
#: need the channel's limits more.
PAUSE, MAX_PLACES = 2.0, 200
_UNCHECKED = "It is not known whether the places of waiting reviews can be used"


class PlaceCheck:
    """`pace`: a factor for PAUSE."""

    def __init__(
        self, reviews: Reviews, channels: Channels, health: Health, pace: float = 0.0
    ) -> None:
        self._reviews, self._channels, self._health = reviews, channels, health
        self._pace = pace
        self._readable = ReadableReviews(reviews, health)
        self._after: LiveReview | None = None
        self._reported, self._stuck = set[Place](), set[str]()

    async def run(self) -> None:
        """Runs until cancelled: at the start and then every INTERVAL."""
        while True:
            with self._health.report_errors("place", "check", _UNCHECKED):
                if await self._reviews.store.try_lock("places", INTERVAL / 2):
                    await self.check_places()
            await asyncio.sleep(INTERVAL)

    async def check_places(self) -> None:
        """Check the next reviews that are not done, and those that were stuck. Raises StoreUnavailable."""
        missing = set[int]()
        page = await self._reviews.store.live_reviews(MAX_REVIEWS, self._after, missing)
        places = dict[Place, None]()
        stuck = {one for one in self._stuck if parse_partition(one) in missing}
        for review_id in dict.fromkeys((*(self._stuck - stuck), *(one.id for one in page))):
            if (snapshot := await self._readable.load_outline(review_id)) is not None:
                places |= dict.fromkeys(_review_places(snapshot.review))
                stuck |= {review_id} if snapshot.review.agent_problem else set()
        self._report_stuck(stuck)
        self._after = page[-1] if len(page) == MAX_REVIEWS else None
        for place in list(places)[:MAX_PLACES]:
            await self._check_place(place)
            await asyncio.sleep(PAUSE * self._pace)

    async def _check_place(self, place: Place) -> None:
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

    def _report_stuck(self, stuck: set[str]) -> None:
        for review_id in self._stuck - stuck:
            self._health.resolve("agent", review_id)
        for review_id in stuck:
            self._health.report("agent", review_id, _stuck_text(review_id))
        self._stuck = stuck


def _review_places(review: Review) -> Iterator[Place]:
    """The places where something waits, and the places to which it may go."""
    for item in open_items(review):
        yield from item.places
        if item.action:
            yield from (step.to for step in item.action.route.escalate)
        if item.fallback:
            yield item.fallback


def _stuck_text(review_id: str) -> str:
    """What is wrong and what to do, for the operators."""
    id = short_id(review_id)
    return (
        f"The review {id} is decided, and its agent can't go on. It tries again. “hitl reviews show {id}” and"
        " the agent's log say why."
    )
