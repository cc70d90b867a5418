"""The lists of reviews in Redis: sorted sets, in each partition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf
from typing import Any, cast

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
from hitl_core.store.redis.connection import servers_for, store_errors
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.keys import Keys, choose_partition
from hitl_core.store.redis.part import RedisPart

#: At most this many reviews of one audience are read when several audiences are merged.
MAX_READ = 1000
#: How many keys one command scans.
SCAN_COUNT = 1000

ScoredIds = list[tuple[bytes, float]]
ScoredId = tuple[float, str]


class RedisReviewLists(RedisPart):
    """See `ReviewLists` for the methods."""

    async def thread_ids(self, thread_id: str, limit: int = 100) -> list[str]:
        return [review.id for review in await self.thread_reviews(thread_id, limit)]

    async def thread_reviews(
        self, thread_id: str, limit: int = 100, after: ThreadReview | None = None
    ) -> list[ThreadReview]:
        indexes = [keys.thread(thread_id) for keys in self._keys]
        return [ThreadReview(*each) for each in await self._read_page(indexes, limit, after)]

    async def rejected_calls(self, agent: str, thread_id: str) -> list[RejectedCall]:
        partition = choose_partition(thread_id, len(self._keys))
        key = self._keys[partition].rejected_calls(agent, thread_id)
        async with store_errors():
            members = await self._redis.zrevrange(key, 0, MAX_REJECTED - 1)
        return [RejectedCall.from_member(text_of(member)) for member in members]

    async def thread_state(self, agent: str, thread_id: str, review_id: str) -> ThreadState:
        keys = self._keys[choose_partition(thread_id, len(self._keys))]
        numbers, *members = await self._run_script(
            "thread_state",
            [
                keys.thread(thread_id),
                keys.rejected_calls(agent, thread_id),
                keys.review(review_id),
            ],
            [MAX_REJECTED],
        )
        rejected = [RejectedCall.from_member(text_of(member)) for member in members]
        seconds, micros, live, stored = map(int, numbers.split())
        return ThreadState(seconds + micros / 1e6, rejected, bool(live), bool(stored))

    async def find_ids(self, prefix: str, limit: int = 100, *, live: bool = False) -> list[str]:
        if not is_id_prefix(prefix):
            return []
        keys, found = Keys(int(prefix.partition("-")[0])), set[str]()
        if live:
            async with store_errors():
                async for member, _ in self._redis.zscan_iter(
                    keys.live_reviews, match=f"{prefix}*", count=SCAN_COUNT
                ):
                    found.add(text_of(member))
                    if len(found) == limit:
                        break
            return sorted(found)
        start = keys.review("")
        async with store_errors():
            for server in await servers_for(self._redis, start):
                async for key in server.scan_iter(match=f"{start}{prefix}*", count=SCAN_COUNT):
                    found.add(text_of(key).removeprefix(start))
                    if len(found) == limit:
                        break
                if found:
                    break
        return sorted(found)

    async def live_ids(self, limit: int = 100) -> list[str]:
        return [review.id for review in await self.live_reviews(limit)]

    async def live_reviews(
        self, limit: int = 100, after: LiveReview | None = None
    ) -> list[LiveReview]:
        indexes = [keys.live_reviews for keys in self._keys]
        return [LiveReview(*each) for each in await self._read_page(indexes, limit, after)]

    async def workload(self) -> Workload:
        live, oldest, due = 0, list[float](), list[float]()
        for keys in self._keys:
            async with store_errors(), self._redis.pipeline(transaction=False) as pipe:
                pipe.zcard(keys.live_reviews)
                pipe.zrange(keys.live_reviews, 0, 0, withscores=True)
                pipe.zrange(keys.due, 0, 0, withscores=True)
                count, first, next_due = await pipe.execute()
            live += count
            oldest += [at for _, at in first]
            due += [at for _, at in next_due]
        now = await self.now()
        overdue = min((at for at in due if at <= now), default=None)
        return Workload(live, min(oldest, default=None), overdue)

    async def waiting_reviews(
        self, audiences: Collection[str], limit: int = 100, offset: int = 0
    ) -> WaitingPage:
        read = max(MAX_READ, offset + limit)
        scores, total = dict[bytes, float](), 0
        for keys in self._keys:
            async with store_errors(), self._redis.pipeline(transaction=False) as pipe:
                for audience in audiences:
                    pipe.zrange(keys.waiting(audience), 0, read - 1, withscores=True)
                    pipe.zcard(keys.waiting(audience))
                answers: list[Any] = await pipe.execute()
            for scored_ids in cast(list[ScoredIds], answers[::2]):
                scores |= dict(scored_ids)
            total += max(cast(list[int], answers[1::2]), default=0)
        ordered = sorted(scores.items(), key=lambda each: (each[1], each[0]))
        page = [(text_of(id), at) for id, at in ordered[offset : offset + limit]]
        return WaitingPage(page, max(len(scores), total))

    async def recent_decisions(
        self, reviewer: str, limit: int = 100, offset: int = 0
    ) -> list[tuple[str, float]]:
        scores: ScoredIds = []
        for keys in self._keys:
            async with store_errors():
                scores += await self._redis.zrevrange(
                    keys.decisions(reviewer), 0, MAX_DECIDED - 1, withscores=True
                )
        scores.sort(key=lambda each: (each[1], each[0]), reverse=True)
        return [(text_of(id), at) for id, at in scores[:MAX_DECIDED][offset : offset + limit]]

    async def due_reviews(self, limit: int = 100) -> list[str]:
        return await self._peek_indexes([keys.due for keys in self._keys], limit)

    async def ready_reviews(self, agent: str, limit: int = 100) -> list[str]:
        return await self._peek_indexes([keys.ready(agent) for keys in self._keys], limit)

    async def _read_page(
        self, indexes: Sequence[str], limit: int, after: ScoredId | None
    ) -> list[ScoredId]:
        """The first `limit` of all partitions. It reads the first `limit` of each partition."""
        reviews: list[ScoredId] = []
        for index in indexes:
            reviews += await self._read_partition(index, limit, after)
        return sorted(reviews)[:limit]

    async def _read_partition(
        self, index: str, limit: int, after: ScoredId | None
    ) -> list[ScoredId]:
        """Redis finds a position only by score, so reviews of the same score are read again and skipped."""
        at, count = -inf if after is None else after[0], limit
        while True:
            async with store_errors():
                page = await self._redis.zrangebyscore(
                    index, at, "+inf", start=0, num=count, withscores=True
                )
            reviews = [(score, text_of(member)) for member, score in page]
            new = [review for review in reviews if after is None or review > after]
            if len(new) >= limit or len(page) < count:
                return new[:limit]
            count *= 2

    async def _peek_indexes(self, indexes: Sequence[str], limit: int) -> list[str]:
        review_ids: list[str] = []
        for index in indexes:
            members = cast(list[bytes], await self._run_script("due", [index], [limit]))
            review_ids += [text_of(member) for member in members]
        return review_ids
