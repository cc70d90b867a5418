"""What the Redis store keeps for people: their waiting reviews, recent decisions, drafts and home views."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

from hitl_core.store.contract import MAX_DECIDED, WaitingPage
from hitl_core.store.redis.client import Client, store_errors
from hitl_core.store.redis.keys import HOMES_KEY, Keys, draft_key, lock_key

#: How many reviews of one audience are read at most, to merge those of several audiences.
MAX_READ = 1000
#: How long a view of the home page is remembered, in seconds.
HOME_VIEW_TTL = 3600

ScoredIds = list[tuple[bytes, float]]


class Inboxes:
    """See `Store` for the methods."""

    def __init__(self, redis: Client, keys: Sequence[Keys]) -> None:
        self._redis, self._keys = redis, keys

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
        page = [(id.decode(), at) for id, at in ordered[offset : offset + limit]]
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
        return [(id.decode(), at) for id, at in scores[:MAX_DECIDED][offset : offset + limit]]

    async def save_draft(self, key: str, data: bytes, ttl: float) -> None:
        async with store_errors():
            await self._redis.set(draft_key(key), data, px=int(ttl * 1000))

    async def draft(self, key: str) -> bytes | None:
        async with store_errors():
            return cast(bytes | None, await self._redis.get(draft_key(key)))

    async def drop_draft(self, key: str) -> None:
        async with store_errors():
            await self._redis.delete(draft_key(key))

    async def record_home_view(self, user: str, now: float) -> None:
        async with store_errors(), self._redis.pipeline(transaction=True) as pipe:
            pipe.zadd(HOMES_KEY, {user: now}, gt=True)
            pipe.zremrangebyscore(HOMES_KEY, "-inf", f"({now - HOME_VIEW_TTL}")
            pipe.expire(HOMES_KEY, HOME_VIEW_TTL)
            await pipe.execute()

    async def home_viewers(self, since: float) -> list[str]:
        async with store_errors():
            users = cast(list[bytes], await self._redis.zrevrangebyscore(HOMES_KEY, "+inf", since))
        return [user.decode() for user in users]

    async def try_lock(self, name: str, ttl: float) -> bool:
        async with store_errors():
            return bool(await self._redis.set(lock_key(name), "1", px=int(ttl * 1000), nx=True))
