"""Handles the actions of a place that can't be reached: other people may decide, or the actions move."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress

from hitl_core.errors import Refused
from hitl_core.model import Grant, Place, Review, Snapshot
from hitl_core.review import Reviews, delivery_problems, open_items

from ..channels.contract import ChannelError, NotFound
from ..people import NoDeciderLeft, Recipients, TooFewDeciders

log = logging.getLogger(__name__)


class Fallback:
    """Methods raise ChannelErrors, StoreUnavailable and ReviewNotFound."""

    def __init__(self, reviews: Reviews, recipients: Recipients) -> None:
        self._reviews, self._recipients = reviews, recipients

    async def pass_on(self, snapshot: Snapshot, place: Place, error: NotFound) -> bool:
        """Let other people decide what waits here. Returns whether nothing is left to deliver here now."""
        review = snapshot.review
        if isinstance(error, NoDeciderLeft):
            return await self._replace_deciders(review, place, error.undecidable, str(error))
        if isinstance(error, TooFewDeciders):  # it gives nobody a right, and stays a problem
            await self._show_in_fallback(review, place, str(error))
            return False
        # An unknown result must not let other people decide.
        with suppress(ChannelError):
            undecidable = await self._recipients.undecidable(snapshot, place, is_lost=True)
            await self._replace_deciders(review, place, undecidable, str(error))
        return await self._show_in_fallback(review, place, str(error))

    async def _replace_deciders(
        self, review: Review, place: Place, undecidable: Mapping[str, tuple[Grant, ...]], why: str
    ) -> bool:
        try:
            await self._reviews.change(
                review.id,
                f"replace:{place}:{review.version}",
                lambda review, now: delivery_problems.replace_deciders(
                    review, undecidable, place, why, now
                ),
            )
        except Refused as refused:
            log.debug("review %s: %s", review.id, refused)
            return refused.code == "changed"
        log.error("review %s: other people may decide on it now: %s", review.id, why)
        return True

    async def _show_in_fallback(self, review: Review, place: Place, why: str) -> bool:
        """Move what waits here to its fallback. Returns whether all of it is there."""
        try:
            applied = await self._reviews.change(
                review.id,
                f"fallback:{place}:{review.version}",
                lambda review, now: delivery_problems.use_fallback(review, place, why, now),
            )
            review = applied.review
            log.error(
                "review %s: it can't be shown at %s, so it moves to its fallback: %s",
                review.id,
                place,
                why,
            )
        except Refused as refused:
            log.debug("review %s: %s", review.id, refused)
            review = (await self._reviews.load(review.id)).review
        waiting = open_items(review, place)
        fallbacks = [(item.fallback, item.places) for item in waiting]
        return bool(waiting) and all(to and to != place and to in at for to, at in fallbacks)
