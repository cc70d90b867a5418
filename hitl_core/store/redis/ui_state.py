"""What the chat keeps in Redis for one person: drafts of forms, and who opened the home page."""

from __future__ import annotations

from typing import cast

from hitl_core.store.redis.client import store_errors
from hitl_core.store.redis.keys import HOMES_KEY, draft_key
from hitl_core.store.redis.part import RedisPart

#: How long a view of the home page is remembered, in seconds.
HOME_VIEW_TTL = 3600


class RedisUiState(RedisPart):
    """See `UiState` for the methods."""

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
