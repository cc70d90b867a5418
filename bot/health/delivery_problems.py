"""Delivery problems: why a review can't be shown at a place. They are reported to the operators and recorded
in the review, so that its other cards, Homes and `hitl reviews show` show them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

from hitl_core.errors import Refused
from hitl_core.model import Place, Review, short_id
from hitl_core.review import Reviews, delivery_problems, open_items

from ..channels.contract import ChannelError, NotFound
from ..channels.registry import Channels, NotConfigured
from .health import Health
from .readable_reviews import ReadableReviews


class DeliveryProblems:
    """Methods raise StoreUnavailable."""

    def __init__(self, reviews: Reviews, channels: Channels, health: Health) -> None:
        self._reviews, self._channels, self._health = reviews, channels, health

    async def report(
        self,
        review: Review,
        place: Place,
        error: ChannelError,
        *,
        undecidable: bool = False,
        is_shown: bool = False,
    ) -> None:
        """Record the problem in the review. A problem of the place itself is also reported to Health here;
        failing look-ups are reported by the channel, and a failing card by its lane. `undecidable`: the place
        can be used, but too few people are left who may approve. `is_shown`: the card is there nevertheless.
        """
        why, name = str(error), self._channels.name_of(place)
        if undecidable:
            text = undecidable_text(review.id, name, why)
            self._health.report("delivery", _subject(review, place), text)
        elif isinstance(error, NotFound):
            self._health.report("place", place, unusable_text(name, error))
        with suppress(Refused):
            await self._reviews.change(
                review.id,
                f"trouble:{place}:{review.version}",
                lambda seen, now: delivery_problems.record_delivery_problem(
                    seen, place, why, now, is_shown=is_shown
                ),
            )

    async def resolve_shown(self, review: Review, place: Place) -> None:
        """The card is there, and enough people may decide now: end the problem."""
        if (problem := review.troubles.get(place)) is not None and problem.is_shown:
            self._health.resolve("delivery", _subject(review, place))
            await self.resolve(review, place)

    async def resolve(self, review: Review, place: Place, *, is_reached: bool = True) -> None:
        """End the problem, because the review is shown there, or needs no card there. If it needs none, the
        place was not reached, so other reviews may still wait for it.
        """
        if is_reached:
            self._health.resolve("place", place)
        if place in review.troubles:
            with suppress(Refused):
                await self._reviews.change(
                    review.id,
                    f"trouble-over:{place}:{review.version}",
                    lambda seen, now: delivery_problems.end_delivery_problem(seen, place, now),
                )


def _subject(review: Review, place: Place) -> str:
    """The subject that the lane uses too, so that the lane also ends the problem."""
    return f"{review.id} at {place}"


def unusable_text(name: str, why: NotFound) -> str:
    """What is wrong and what to do, for the operators."""
    is_ours = not isinstance(why, NotConfigured)
    todo = "Create it or invite the bot there" if is_ours else "Connect the bot to that channel"
    return (
        f"Reviews can't be shown in {name}: {why}. {todo}, or correct the policy and decide or cancel the"
        " waiting reviews with `hitl reviews`."
    )


def undecidable_text(review_id: str, name: str, why: str) -> str:
    """What is wrong and what to do, for the operators."""
    return (
        f"The review {short_id(review_id)} in {name} can't be approved: {why}. Correct the policy for future"
        " reviews, and reject or cancel this one."
    )


def stuck_text(review_id: str) -> str:
    """What is wrong and what to do, for the operators."""
    id = short_id(review_id)
    return (
        f"The review {id} is decided, and its agent can't go on. It tries again. `hitl reviews show {id}` and"
        " the agent's log say why."
    )


log = logging.getLogger(__name__)

#: The time between two checks, in seconds. It is shorter than FORGET_AFTER of a problem. One bot checks for
#: all.
INTERVAL = 600.0
#: How many reviews and places one check handles.
MAX_REVIEWS, MAX_PLACES = 300, 50
_UNCHECKED = "It is not known whether the places of waiting reviews can be used"


class PlaceCheck:
    def __init__(self, reviews: Reviews, channels: Channels, health: Health) -> None:
        self._reviews, self._channels, self._health = reviews, channels, health
        self._readable = ReadableReviews(reviews, health)
        self._reported: set[Place] = set()
        self._stuck: set[str] = set()

    async def run(self) -> None:
        """Runs until cancelled: at the start and then every INTERVAL."""
        while True:
            with self._health.report_errors("place", "check", _UNCHECKED):
                if await self._reviews.store.try_lock("places", INTERVAL / 2):
                    await self.check_places()
            await asyncio.sleep(INTERVAL)

    async def check_places(self) -> None:
        """Raises StoreUnavailable."""
        reviews = [review async for review in self._live_reviews()]
        self._report_stuck({review.id for review in reviews if review.agent_problem})
        places = dict.fromkeys(place for review in reviews for place in _review_places(review))
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

    def _report_stuck(self, stuck: set[str]) -> None:
        for review_id in self._stuck - stuck:
            self._health.resolve("agent", review_id)
        for review_id in stuck:
            self._health.report("agent", review_id, stuck_text(review_id))
        self._stuck = stuck

    async def _live_reviews(self) -> AsyncIterator[Review]:
        for review_id in await self._reviews.store.live_ids(MAX_REVIEWS):
            if (snapshot := await self._readable.load_outline(review_id)) is not None:
                yield snapshot.review


def _review_places(review: Review) -> Iterator[Place]:
    """The places where something waits, and the places to which it may go."""
    for item in open_items(review):
        yield from item.places
        if item.action:
            yield from (step.to for step in item.action.route.escalate)
        if item.fallback:
            yield item.fallback
