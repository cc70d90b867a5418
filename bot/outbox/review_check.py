"""Looks at each live review in turn, for what no event reports: people leave, conversations are archived, so
that nobody can decide; messages are deleted; a clock that is set back keeps the claim of a dead process.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from hitl_core.errors import ReviewNotFound, StoreUnavailable
from hitl_core.model import Place, Snapshot, short_id
from hitl_core.review import Reviews, ends_late, open_items
from hitl_core.store import LiveReview

from ..channels.contract import ChannelError, RateLimited
from ..health import Health, ReadableReviews
from .delivery import Delivery

#: The time between two checks, in seconds. One bot checks for all.
INTERVAL = 300.0
#: How many reviews one check handles. The next check continues with the next ones.
MAX_REVIEWS = 300
#: A waiting card is drawn again after this time, in seconds, because a chat system doesn't report that a
#: message was deleted; and the most cards at once, so that they don't delay other updates.
DRAW_INTERVAL, MAX_DRAWN = 3600.0, 20
#: The pause after each look-up of a place, in seconds: clicks and cards need the channel's limits more.
PAUSE = 2.0
#: How often a look-up waits for the channel's limits. After that, it is unknown whether the place can be
#: used.
MAX_WAITS = 10
_UNCHECKED = "It is not known whether people who may decide on waiting reviews are left"


class ReviewCheck:
    """`pace`: a factor for PAUSE. A review that can't be checked is a problem, and stops no other."""

    def __init__(
        self,
        reviews: Reviews,
        delivery: Delivery,
        health: Health,
        pace: float = 0.0,
    ) -> None:
        self._reviews, self._deciders, self._pace = reviews, delivery.deciders, pace
        self._health = health
        self._readable = ReadableReviews(reviews, self._health)
        self._after: LiveReview | None = None
        self._drawn_after: LiveReview | None = None

    async def run(self) -> None:
        """Runs until cancelled: at the start and then every INTERVAL."""
        while True:
            with self._health.report_errors("delivery", "deciders", _UNCHECKED):
                if await self._reviews.store.try_lock("deciders", INTERVAL / 2):
                    await self.check_page()
                    await self.draw_page()
            await asyncio.sleep(INTERVAL)

    async def check_page(self) -> None:
        """Check the next page of the reviews that are not done; each of their places is looked up once.
        Raises StoreUnavailable; the next call continues with the review that was not checked.
        """
        page = await self._reviews.store.live_reviews(MAX_REVIEWS, self._after, set())
        flaws = dict[str, ChannelError | None]()
        for each in page:
            text = f"It is not known whether anybody may decide on the review {short_id(each.id)}"
            subject = f"deciders of {each.id}"
            with self._health.report_errors("delivery", subject, text, but=(StoreUnavailable,)):
                if (snapshot := await self._readable.load_outline(each.id)) is not None:
                    with suppress(ReviewNotFound):
                        await self._check_review(snapshot, flaws)
            self._after = each
        if len(page) < MAX_REVIEWS:
            self._after = None

    async def draw_page(self) -> None:
        """Draw the next cards that were not drawn recently: deleted ones are posted again. Each call
        continues where the last one ended, so every card has its turn. Raises StoreUnavailable.
        """
        page = await self._reviews.store.live_reviews(MAX_REVIEWS, self._drawn_after, set())
        drawn = 0
        for each in page:
            if (snapshot := await self._readable.load_outline(each.id)) is not None:
                drawn += await self._draw_again(snapshot)
            self._drawn_after = each
            if drawn == MAX_DRAWN:
                return
        if len(page) < MAX_REVIEWS:
            self._drawn_after = None

    async def _check_review(
        self, snapshot: Snapshot, flaws: dict[str, ChannelError | None]
    ) -> None:
        if ends_late(snapshot.review, snapshot.now):  # `DueTimers` would wait for that time
            await self._reviews.apply_due(snapshot.review.id)
        for place in _shown_places(snapshot):
            if place.conversation not in flaws:
                flaws[place.conversation] = await self._find_flaw(place)
            await self._deciders.check(snapshot, place, flaws[place.conversation])

    async def _draw_again(self, snapshot: Snapshot) -> bool:
        """Queue the cards of the review, if they were not drawn recently. Returns whether it did."""
        review, store, places = snapshot.review, self._reviews.store, _shown_places(snapshot)
        if not places or snapshot.now - review.created_at < DRAW_INTERVAL:
            return False
        if not await store.try_lock(f"card {review.id}", DRAW_INTERVAL):
            return False
        for place in places:
            await store.redraw(review.id, place)
        return True

    async def _find_flaw(self, place: Place) -> ChannelError | None:
        """The problem of a place. It waits while the channel limits the rate: otherwise each check would stop
        at the same places and use up the limit.
        """
        flaw: ChannelError | None = None
        for refusals in range(1, MAX_WAITS + 1):
            try:
                flaw = await self._deciders.find_flaw(place)
                await asyncio.sleep(PAUSE * self._pace)
                break
            except RateLimited as limited:
                flaw = limited
                await asyncio.sleep(limited.pause(refusals))
        return flaw


def _shown_places(snapshot: Snapshot) -> list[Place]:
    """The places with a card where something waits."""
    shown = {one.base for one in snapshot.posts}
    waiting = [place for item in open_items(snapshot.review) for place in item.places]
    return [place for place in dict.fromkeys(waiting) if place in shown]
