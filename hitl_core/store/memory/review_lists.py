"""The lists of reviews of the store in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

from hitl_core.model import is_id_prefix
from hitl_core.store.contract import (
    MAX_DECIDED,
    MAX_REJECTED,
    LiveReview,
    RejectedCall,
    ThreadReview,
    ThreadState,
    WaitingPage,
    Workload,
)
from hitl_core.store.memory.dead_letters import MemoryDeadLetters


class MemoryReviewLists(MemoryDeadLetters):
    """See `ReviewLists` for the methods. The indexes are written by `commit`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self._due: dict[str, float] = {}
        self._ready: dict[str, float] = {}
        self._waiting: dict[str, dict[str, float]] = {}
        self._decisions: dict[str, dict[str, float]] = {}
        self._rejected: dict[tuple[str, str], dict[RejectedCall, float]] = {}

    async def thread_ids(self, thread_id: str, limit: int = 100) -> list[str]:
        return [review.id for review in await self.thread_reviews(thread_id, limit)]

    async def thread_reviews(
        self, thread_id: str, limit: int = 100, after: ThreadReview | None = None
    ) -> list[ThreadReview]:
        reviews = sorted(
            ThreadReview.of(review)
            for review in self._reviews.values()
            if review.thread_id == thread_id
        )
        return [review for review in reviews if after is None or review > after][:limit]

    async def rejected_calls(self, agent: str, thread_id: str) -> list[RejectedCall]:
        rejected = self._rejected.get((agent, thread_id), {})
        latest = sorted(rejected, key=lambda call: (rejected[call], call.member), reverse=True)
        return latest[:MAX_REJECTED]

    async def thread_state(self, agent: str, thread_id: str, review_id: str) -> ThreadState:
        reviews = await self.thread_reviews(thread_id, limit=1)
        return ThreadState(
            self._time(),
            await self.rejected_calls(agent, thread_id),
            any(not each.is_done for each in reviews),
            review_id in self._reviews,
        )

    async def find_ids(self, prefix: str, limit: int = 100, *, live: bool = False) -> list[str]:
        if not is_id_prefix(prefix):
            return []
        ids = await self.live_ids(len(self._reviews)) if live else self._reviews
        return sorted(one for one in ids if one.startswith(prefix))[:limit]

    async def live_ids(self, limit: int = 100) -> list[str]:
        return [review.id for review in await self.live_reviews(limit)]

    async def live_reviews(
        self,
        limit: int = 100,
        after: LiveReview | None = None,
        missing: set[int] | None = None,
    ) -> list[LiveReview]:
        live = (review for review in self._reviews.values() if review.status != "done")
        reviews = sorted(LiveReview(review.created_at, review.id) for review in live)
        return [review for review in reviews if after is None or review > after][:limit]

    async def workload(self, missing: set[int] | None = None) -> Workload:
        live = [r.created_at for r in self._reviews.values() if r.status != "done"]
        due = min(self._due.values(), default=math.inf)
        overdue = due if due <= self._time() else None
        return Workload(len(live), min(live, default=None), overdue)

    async def waiting_reviews(
        self,
        audiences: Collection[str],
        limit: int = 100,
        offset: int = 0,
        missing: set[int] | None = None,
    ) -> WaitingPage:
        matches: dict[str, float] = {}
        for audience in audiences:
            matches |= self._waiting.get(audience, {})
        ordered = sorted(matches.items(), key=lambda each: (each[1], each[0]))
        return WaitingPage(ordered[offset : offset + limit], len(ordered))

    async def recent_decisions(
        self,
        reviewer: str,
        limit: int = 100,
        offset: int = 0,
        missing: set[int] | None = None,
    ) -> list[tuple[str, float]]:
        decisions = self._decisions.get(reviewer, {}).items()
        ordered = sorted(decisions, key=lambda each: (each[1], each[0]), reverse=True)[:MAX_DECIDED]
        return ordered[offset : offset + limit]

    async def due_reviews(self, limit: int = 100, missing: set[int] | None = None) -> list[str]:
        return _due_ids(self._due, self._time(), limit)

    async def ready_reviews(
        self, agent: str, limit: int = 100, missing: set[int] | None = None
    ) -> list[str]:
        mine = {id: at for id, at in self._ready.items() if self._reviews[id].agent == agent}
        return _due_ids(mine, self._time(), limit)


def _due_ids(index: dict[str, float], now: float, limit: int) -> list[str]:
    due = sorted((at, review_id) for review_id, at in index.items() if at <= now)
    return [review_id for _, review_id in due[:limit]]
