"""Held reviews in the memory store, which loses no writes."""

from __future__ import annotations

from collections.abc import Callable

from hitl_core.store.contract import HeldReview, HistoryCheck
from hitl_core.store.memory.review_lists import MemoryReviewLists


class MemoryHistory(MemoryReviewLists):
    """See `History` for the methods."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        #: The held reviews, and since when.
        self._held: dict[str, float] = {}
        self._holds = 0

    @property
    def history(self) -> str:
        return str(self._holds)

    async def check_history(self) -> HistoryCheck:
        return HistoryCheck(lost=False, held=len(self._held))

    async def missing_partitions(self) -> set[int]:
        return set()

    async def foreign_keys(self, missing: set[int] | None = None) -> list[str]:
        return []

    async def hold_live_reviews(self) -> int:
        now = self._time()
        for review in self._reviews.values():
            if review.status != "done":
                self._held.setdefault(review.id, now)
        self._due.clear()
        self._holds += 1
        return len(self._held)

    async def held_reviews(
        self, limit: int = 100, missing: set[int] | None = None
    ) -> list[HeldReview]:
        return sorted(HeldReview(since, review_id) for review_id, since in self._held.items())[
            :limit
        ]

    async def confirm(self, review_id: str) -> None:
        """There are no replicas."""

    async def missing_replicas(self, missing: set[int] | None = None) -> int:
        return 0

    async def unschedule(self, review_id: str, agent: str) -> None:
        if review_id in self._held:
            self._due.pop(review_id, None)
            self._ready.pop(review_id, None)

    async def drop_missing(self, review_id: str) -> bool:
        return False
