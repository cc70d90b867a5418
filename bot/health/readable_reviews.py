"""Loads reviews for the bot's own checks. An unreadable review is reported and doesn't stop the others."""

from __future__ import annotations

from hitl_core.errors import ReviewNotFound, ReviewUnreadable
from hitl_core.model import Snapshot
from hitl_core.review import Reviews

from .health import Health


class ReadableReviews:
    def __init__(self, reviews: Reviews, health: Health) -> None:
        self._reviews, self._health = reviews, health

    async def load_outline(self, review_id: str) -> Snapshot | None:
        """None if the review ended, or if it can't be read: then a problem is reported. Raises
        StoreUnavailable.
        """
        try:
            snapshot = await self._reviews.load_outline(review_id)
        except ReviewNotFound:
            snapshot = None
        except ReviewUnreadable as error:
            self._health.report("delivery", review_id, str(error))
            return None
        self._health.resolve("delivery", review_id)
        return snapshot
