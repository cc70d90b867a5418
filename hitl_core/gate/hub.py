"""One listener a process: it wakes whoever waits for a review, over one connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Generator

from hitl_core.errors import GateClosed, HitlError
from hitl_core.store import Store

log = logging.getLogger(__name__)

#: A process that waits is taken for dead this many seconds after its last beat.
ALIVE = 6.0
#: The stream is a hint, the hash the truth: this often the reviews themselves are looked at.
LOOK = 30.0


class Hub:
    """Between `start` and `stop` it listens, and says that its process lives."""

    def __init__(self, store: Store, agent: str, process: str, alive: float = ALIVE) -> None:
        self._store, self._agent, self._process, self._alive = store, agent, process, alive
        self._open = False
        self._watchers: dict[str, list[asyncio.Event]] = {}
        self._any: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Raises StoreUnavailable: whoever waits has a heartbeat and a place in the stream first."""
        await self._store.beat(self._process, self._alive)
        await self._store.hints(self._agent, 0)
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._beat())]
        self._open = True

    async def stop(self) -> None:
        """Whoever still waits gets GateClosed."""
        self._open = False
        self._wake_all()
        running = set(self._tasks)
        # Again and again: before Python 3.12 one that comes while a command is sent may be swallowed.
        while running:
            for task in running:
                task.cancel()
            _, running = await asyncio.wait(running, timeout=0.1)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def check_open(self) -> None:
        if not self._open:
            raise GateClosed("The gate is not open: wait inside its `async with`.")

    def watched(self, review_id: str) -> bool:
        return review_id in self._watchers

    @contextlib.contextmanager
    def watch(self, review_id: str | None) -> Generator[asyncio.Event, None, None]:
        """An event set whenever this review may have changed; with None, whenever any may have."""
        woken = asyncio.Event()
        watchers = self._any if review_id is None else self._watchers.setdefault(review_id, [])
        watchers.append(woken)
        try:
            yield woken
        finally:
            watchers.remove(woken)
            if review_id is not None and not watchers:
                self._watchers.pop(review_id, None)

    async def _listen(self) -> None:
        pause = 0.05
        while True:
            try:
                hints = await self._store.hints(self._agent, 10.0)
                if pause > 0.05:
                    log.info("The store is back.")
                    self._wake_all()
                pause = 0.05
            except HitlError as error:
                log.warning("Waiting for reviews: %s", error)
                await asyncio.sleep(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, 2.0)
                continue
            for review_id in hints:
                for woken in [*self._watchers.get(review_id, []), *self._any]:
                    woken.set()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._alive / 3)
            with contextlib.suppress(HitlError):
                await self._store.beat(self._process, self._alive)

    def _wake_all(self) -> None:
        for watchers in [*self._watchers.values(), self._any]:
            for woken in watchers:
                woken.set()


async def woken_within(woken: asyncio.Event, seconds: float) -> None:
    """Wait for a hint, but look again after `seconds` at the latest."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(0.05, seconds)):
            await woken.wait()
    woken.clear()
