"""A single Redis server, with a proxy in front of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis

from benchmarks.chaos.servers.server import freeze_processes
from slack_sandbox.demo import DURABLE_SETTINGS, EmbeddedRedis

#: The seconds of writes that a power failure loses with `everysec`.
SLOW_DISK = 1.5
#: The seconds between two records of the append-only file's length.
EVERY = 0.1


class SingleRedis:
    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._server = EmbeddedRedis(folder, settings={**DURABLE_SETTINGS, **(settings or {})})

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", urlsplit(self.url).port or 0

    def url_through(self, port: int) -> str:
        return f"redis://127.0.0.1:{port}/0"

    async def count(self, keys: list[str]) -> int:
        async with self._client() as client:
            return sum([await client.hlen(key) for key in keys])

    async def memory(self) -> float:
        async with self._client() as client:
            return (await client.info("memory"))["used_memory_peak"] / 1e6

    def _client(self) -> Any:
        return Redis.from_url(self.url)

    async def start(self) -> None:
        await asyncio.to_thread(self._server.start)

    async def stop(self) -> None:
        await asyncio.to_thread(self._server.stop)

    async def crash(self) -> None:
        await asyncio.to_thread(self._server.kill)
        self.after_kill()
        await self.start()

    def after_kill(self) -> None:
        """Called when the server is killed, before its new start: a subclass can lose writes here."""

    async def freeze(self, seconds: float) -> None:
        await freeze_processes([self._server.pid], seconds)

    async def freeze_all(self, seconds: float) -> None:
        await self.freeze(seconds)


class LossyRedis(SingleRedis):
    """`appendfsync everysec` on a slow disk. Each kill simulates a power failure: the append-only file is cut
    to its length of some time ago.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {"appendfsync": "everysec", "auto-aof-rewrite-percentage": "0"})
        self._folder, self._lengths = folder, list[dict[Path, int]]()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await super().start()
        self._task = self._task or asyncio.create_task(self._note_lengths())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        await super().stop()

    async def _note_lengths(self) -> None:
        while True:
            files = (self._folder / "appendonlydir").glob("*.incr.aof")
            self._lengths.append({file: file.stat().st_size for file in files})
            del self._lengths[: -int(SLOW_DISK / EVERY)]
            await asyncio.sleep(EVERY)

    def after_kill(self) -> None:
        for file, length in self._lengths[0].items() if self._lengths else ():
            os.truncate(file, min(length, file.stat().st_size))
        self._lengths.clear()
