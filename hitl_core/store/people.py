"""What the Redis store keeps for people: what waits for them, what they decided, what they have typed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

from hitl_core.store.base import DECIDED, Waiting
from hitl_core.store.client import Client, translated
from hitl_core.store.keys import HOMES, Keys, claim, draft

#: How much of one audience is read to tell what waits for several.
READ = 1000
#: How long it is known who looked at the home page, in seconds.
REMEMBERED = 3600

Scored = list[tuple[bytes, float]]


class People:
    """See `Store` for what each method promises."""

    def __init__(self, redis: Client, keys: Sequence[Keys]) -> None:
        self._redis, self._keys = redis, keys

    async def waiting(
        self, audiences: Collection[str], limit: int = 100, offset: int = 0
    ) -> Waiting:
        read = max(READ, offset + limit)
        found, most = dict[bytes, float](), 0
        for keys in self._keys:
            async with translated(), self._redis.pipeline(transaction=False) as pipe:
                for audience in audiences:
                    pipe.zrange(keys.waiting(audience), 0, read - 1, withscores=True)
                    pipe.zcard(keys.waiting(audience))
                answers: list[Any] = await pipe.execute()
            for some in cast(list[Scored], answers[::2]):
                found |= dict(some)
            most += max(cast(list[int], answers[1::2]), default=0)
        ordered = sorted(found.items(), key=lambda each: (each[1], each[0]))
        page = [(id.decode(), at) for id, at in ordered[offset : offset + limit]]
        return Waiting(page, max(len(found), most))

    async def decided(
        self, reviewer: str, limit: int = 100, offset: int = 0
    ) -> list[tuple[str, float]]:
        found: Scored = []
        for keys in self._keys:
            async with translated():
                found += await self._redis.zrevrange(
                    keys.decided(reviewer), 0, DECIDED - 1, withscores=True
                )
        found.sort(key=lambda each: (each[1], each[0]), reverse=True)
        return [(id.decode(), at) for id, at in found[:DECIDED][offset : offset + limit]]

    async def save_draft(self, key: str, data: bytes, ttl: float) -> None:
        async with translated():
            await self._redis.set(draft(key), data, px=int(ttl * 1000))

    async def draft(self, key: str) -> bytes | None:
        async with translated():
            return cast(bytes | None, await self._redis.get(draft(key)))

    async def drop_draft(self, key: str) -> None:
        async with translated():
            await self._redis.delete(draft(key))

    async def opened_home(self, user: str, now: float) -> None:
        async with translated(), self._redis.pipeline(transaction=True) as pipe:
            pipe.zadd(HOMES, {user: now}, gt=True)
            pipe.zremrangebyscore(HOMES, "-inf", f"({now - REMEMBERED}")
            pipe.expire(HOMES, REMEMBERED)
            await pipe.execute()

    async def open_homes(self, since: float) -> list[str]:
        async with translated():
            found = cast(list[bytes], await self._redis.zrevrangebyscore(HOMES, "+inf", since))
        return [user.decode() for user in found]

    async def claim(self, name: str, ttl: float) -> bool:
        async with translated():
            return bool(await self._redis.set(claim(name), "1", px=int(ttl * 1000), nx=True))
