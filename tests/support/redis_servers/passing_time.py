"""Lets time pass in a Redis, whose clock can't be moved: what is stored is moved into the past."""

from __future__ import annotations

from typing import Any

from hitl_core.store import RedisStore
from hitl_core.store.redis.connection import servers_of


async def pass_time(store: RedisStore, seconds: float) -> None:
    """All scores are times, and so are the numbers of a slot. Times inside reviews and jobs stay."""
    for server in await servers_of(store._redis):
        async for key in server.scan_iter("hitl:*"):
            if await server.type(key) == b"zset":
                for member, score in await server.zrange(key, 0, -1, withscores=True):
                    await server.zadd(key, {member: score - seconds})
            if key.startswith(b"hitl:slot:"):
                await _move_slot(server, key, round(seconds * 1000))
            await _shorten_life(server, key, round(seconds * 1000))


async def _move_slot(server: Any, key: bytes, milliseconds: int) -> None:
    times = [int(each) - milliseconds for each in (await server.get(key)).split()]
    await server.set(key, " ".join(map(str, times)), keepttl=True)


async def _shorten_life(server: Any, key: bytes, milliseconds: int) -> None:
    left = await server.pttl(key)
    if left > milliseconds:
        await server.pexpire(key, left - milliseconds)
    elif left >= 0:
        await server.delete(key)
