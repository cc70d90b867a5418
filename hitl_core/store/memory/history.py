"""The held reviews in memory, which loses no writes."""

from __future__ import annotations

from collections.abc import Callable

from hitl_core.store.contract import HistoryCheck, LiveReview
from hitl_core.store.memory.review_lists import MemoryReviewLists


class MemoryHistory(MemoryReviewLists):
    """See `History` for the methods."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self._held: set[str] = set()

    async def check_history(self) -> HistoryCheck:
        return HistoryCheck(lost=False, held=len(self._held))

    async def hold_live_reviews(self) -> int:
        self._held |= {review.id for review in self._reviews.values() if review.status != "done"}
        self._due.clear()
        return len(self._held)

    async def held_reviews(self, limit: int = 100) -> list[LiveReview]:
        held = (self._reviews[review_id] for review_id in self._held)
        return sorted(LiveReview(review.created_at, review.id) for review in held)[:limit]

    async def confirm(self, review_id: str) -> None:
        """There are no replicas."""

    async def unschedule(self, review_id: str, agent: str) -> None:
        if review_id in self._held:
            self._due.pop(review_id, None)
            self._ready.pop(review_id, None)
