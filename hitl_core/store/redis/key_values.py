"""How processes share work, in Redis: every key ends by itself."""

from __future__ import annotations

from hitl_core.store.redis.client import store_errors
from hitl_core.store.redis.keys import alive_key, lock_key, slot_key
from hitl_core.store.redis.part import RedisPart


class RedisCoordination(RedisPart):
    """See `Coordination` for the methods."""

    async def try_lock(self, name: str, ttl: float) -> bool:
        async with store_errors():
            return bool(await self._redis.set(lock_key(name), "1", px=int(ttl * 1000), nx=True))

    async def send_heartbeat(self, process: str, ttl: float) -> None:
        await self._run_script("beat", [alive_key(process)], [int(ttl * 1000)])

    async def is_alive(self, process: str) -> bool:
        async with store_errors():
            return bool(await self._redis.exists(alive_key(process)))

    async def take_slot(self, name: str, every: float, burst: int = 1) -> float:
        return (
            await self._run_script("slot", [slot_key(name)], [int(every * 1000), burst, 0]) / 1000
        )

    async def pause_slots(self, name: str, seconds: float) -> None:
        await self._run_script("slot", [slot_key(name)], [0, 1, max(1, int(seconds * 1000))])
