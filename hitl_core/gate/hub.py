"""One listener a process: it wakes whoever waits for a review, over one connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from hitl_core.errors import GateClosed, HitlError, StoreUnwritable
from hitl_core.gate.watchers import Watchers, end
from hitl_core.store import Store

log = logging.getLogger(__name__)

#: A process that waits is taken for dead this many seconds after its last beat.
ALIVE = 6.0
#: The stream is a hint, the hash the truth: this often the reviews themselves are looked at.
LOOK = 30.0


class Hub(Watchers):
    """Between `start` and `stop` it listens, and says that its process lives."""

    def __init__(self, store: Store, agent: str, process: str, alive: float = ALIVE) -> None:
        super().__init__()
        self._store, self._agent, self._process, self._alive = store, agent, process, alive
        self._open = False
        self._closed = False
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Raises StoreUnavailable: whoever waits has a place in the stream first, and a heartbeat, which a
        store that takes no writes now gets later.
        """
        try:
            await self._store.beat(self._process, self._alive)
        except StoreUnwritable as error:
            log.warning("New reviews have to wait: %s", error)
        await self._store.hints(self._agent, 0)
        listening = self.listen(lambda: self._store.hints(self._agent, 10.0))
        self._tasks = [asyncio.create_task(listening), asyncio.create_task(self._beat())]
        self._open = True

    async def stop(self) -> None:
        """Whoever still waits gets GateClosed."""
        self._open, self._closed = False, True
        self.wake_all()
        await end(self._tasks)

    def check_open(self) -> None:
        if not self._open:
            raise GateClosed("The gate is not open: wait inside its `async with`.")

    def check_not_closed(self) -> None:
        """For what needs no waiting: its store is closed with the gate."""
        if self._closed:
            raise GateClosed("This gate is closed: its `async with` has ended. Open another one.")

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._alive / 3)
            with contextlib.suppress(HitlError):
                await self._store.beat(self._process, self._alive)
