"""The lists of reviews in Redis: sorted sets, in each partition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
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

Scored = list[tuple[bytes, float]]
ScoredId = tuple[float, str]


class RedisReviewLists(RedisPart):
    """See `ReviewLists` for the methods."""

    async def thread_ids(self, thread_id: str, limit: int = 100) -> list[str]:
        return [review.id for review in await self.thread_reviews(thread_id, limit)]

    async def thread_reviews(
        self, thread_id: str, limit: int = 100, after: ThreadReview | None = None
    ) -> list[ThreadReview]:
        keys = self._keys[choose_partition(thread_id, len(self._keys))]
        page = await self._read_partition(keys.thread(thread_id), limit, after)
        return [ThreadReview(*each) for each in page]

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
        self,
        limit: int = 100,
        after: LiveReview | None = None,
        missing: set[int] | None = None,
    ) -> list[LiveReview]:
        """The first `limit` of all partitions. It reads the first `limit` of each partition."""

        async def read(partition: int) -> list[ScoredId]:
            return await self._read_partition(self._keys[partition].live_reviews, limit, after)

        pages = await self._ask_each(read, missing)
        return [LiveReview(*each) for each in sorted(chain(*pages))[:limit]]

    async def workload(self, missing: set[int] | None = None) -> Workload:
        async def read(partition: int) -> tuple[int, Scored, Scored]:
            keys = self._keys[partition]
            async with store_errors(), self._redis.pipeline(transaction=False) as pipe:
                pipe.zcard(keys.live_reviews)
                pipe.zrange(keys.live_reviews, 0, 0, withscores=True)
                pipe.zrange(keys.due, 0, 0, withscores=True)
                live, oldest, due = await pipe.execute()
            return live, oldest, due

        found = await self._ask_each(read, missing)
        now = await self.now()
        first = (at for _, oldest, _ in found for _, at in oldest)
        overdue = (at for _, _, due in found for _, at in due if at <= now)
        live = sum(count for count, _, _ in found)
        return Workload(live, min(first, default=None), min(overdue, default=None))

    async def waiting_reviews(
        self,
        audiences: Collection[str],
        limit: int = 100,
        offset: int = 0,
        missing: set[int] | None = None,
    ) -> WaitingPage:
        most = max(MAX_READ, offset + limit)

        async def read(partition: int) -> list[Any]:
            keys = self._keys[partition]
            async with store_errors(), self._redis.pipeline(transaction=False) as pipe:
                for audience in audiences:
                    pipe.zrange(keys.waiting(audience), 0, most - 1, withscores=True)
                    pipe.zcard(keys.waiting(audience))
                return cast(list[Any], await pipe.execute())

        scores, total = dict[bytes, float](), 0
        for answers in await self._ask_each(read, missing):
            for scored_ids in cast(list[Scored], answers[::2]):
                scores |= dict(scored_ids)
            total += max(cast(list[int], answers[1::2]), default=0)
        ordered = sorted(scores.items(), key=lambda each: (each[1], each[0]))
        page = [(text_of(id), at) for id, at in ordered[offset : offset + limit]]
        return WaitingPage(page, max(len(scores), total))

    async def recent_decisions(
        self,
        reviewer: str,
        limit: int = 100,
        offset: int = 0,
        missing: set[int] | None = None,
    ) -> list[tuple[str, float]]:
        async def read(partition: int) -> Scored:
            key = self._keys[partition].decisions(reviewer)
            async with store_errors():
                return await self._redis.zrevrange(key, 0, MAX_DECIDED - 1, withscores=True)

        scores = [*chain(*await self._ask_each(read, missing))]
        scores.sort(key=lambda each: (each[1], each[0]), reverse=True)
        return [(text_of(id), at) for id, at in scores[:MAX_DECIDED][offset : offset + limit]]

    async def due_reviews(self, limit: int = 100, missing: set[int] | None = None) -> list[str]:
        return await self._peek_indexes([keys.due for keys in self._keys], limit, missing)

    async def ready_reviews(
        self, agent: str, limit: int = 100, missing: set[int] | None = None
    ) -> list[str]:
        indexes = [keys.ready(agent) for keys in self._keys]
        return await self._peek_indexes(indexes, limit, missing)

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

    async def _peek_indexes(
        self, indexes: Sequence[str], limit: int, missing: set[int] | None
    ) -> list[str]:
        async def read(partition: int) -> list[bytes]:
            return await self._run_script("due", [indexes[partition]], [limit])

        return [text_of(each) for each in chain(*await self._ask_each(read, missing))]
