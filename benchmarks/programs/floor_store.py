"""What a floor stores for an agent in another process: one script, which wakes `programs.stream_reader`."""

from __future__ import annotations

from redis.asyncio import Redis

#: The approximate size of a decided review, in bytes.
STORED = "x" * 1500
SCRIPT = """
redis.call('HSET', KEYS[1], 'version', '2', 'data', ARGV[2])
redis.call('XADD', KEYS[2], '*', 'review', ARGV[1])
return 1
"""
STREAM = "bench:{0}:stream"


class FloorStore:
    def __init__(self, redis_url: str) -> None:
        self._redis = Redis.from_url(redis_url)
        self._script = self._redis.register_script(SCRIPT)

    async def save(self, button: str) -> None:
        """`button` is the value of the button that was pressed."""
        review = button.split(".")[1]
        await self._script(keys=[f"bench:{{0}}:{review}", STREAM], args=[review, STORED])

    async def close(self) -> None:
        await self._redis.aclose()
