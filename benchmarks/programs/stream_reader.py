"""The floor of an agent: reads a stream, and prints when each entry woke it: `<review> <nanoseconds>`."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from redis.asyncio import Redis

from benchmarks.programs.floor_store import STREAM


async def main() -> None:
    async with Redis.from_url(os.environ["HITL_REDIS_URL"], socket_timeout=None) as redis:
        last_id = b"0-0"
        print("waiting", flush=True)
        while True:
            answer: Any = await redis.xread({STREAM: last_id}, block=10_000)
            now = time.monotonic_ns()
            for _, entries in answer or []:
                for entry, fields in entries:
                    last_id = entry
                    print(fields[b"review"].decode(), now, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
