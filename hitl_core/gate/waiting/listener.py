"""The one listener of a process: it wakes the tasks that wait for reviews, over one connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from hitl_core.errors import GateClosed, HitlError, StoreUnwritable
from hitl_core.gate.waiting.watchers import Watchers, cancel_tasks
from hitl_core.store import Store

log = logging.getLogger(__name__)

#: A waiting process counts as dead this many seconds after its last heartbeat.
HEARTBEAT_TTL = 6.0
#: Hints from the stream can be lost, so the reviews themselves are read this often, in seconds.
POLL_INTERVAL = 30.0


class ReviewListener(Watchers):
    """Between `start` and `stop` it listens, and sends the heartbeat of its process."""

    def __init__(
        self, store: Store, agent: str, process: str, heartbeat_ttl: float = HEARTBEAT_TTL
    ) -> None:
        super().__init__()
        self._store, self._agent, self._process, self._heartbeat_ttl = (
            store,
            agent,
            process,
            heartbeat_ttl,
        )
        self._is_open = False
        self._is_closed = False
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Send a heartbeat and fix the position in the stream, so that no hint after this is missed. A store
        that takes no writes now gets the heartbeat later. Raises StoreUnavailable.
        """
        try:
            await self._store.send_heartbeat(self._process, self._heartbeat_ttl)
        except StoreUnwritable as error:
            log.warning("New reviews can't be stored now: %s", error)
        await self._store.agent_hints(self._agent, 0)
        listening = self.listen(lambda: self._store.agent_hints(self._agent, 10.0))
        self._tasks = [asyncio.create_task(listening), asyncio.create_task(self._send_heartbeats())]
        self._is_open = True

    async def stop(self) -> None:
        """Tasks that still wait get GateClosed."""
        self._is_open, self._is_closed = False, True
        self.wake_all()
        await cancel_tasks(self._tasks)

    def check_open(self) -> None:
        if not self._is_open:
            raise GateClosed("The gate is not open: wait inside its `async with`.")

    def check_not_closed(self) -> None:
        """For methods that don't wait. They work before `start`, but not after `stop`."""
        if self._is_closed:
            raise GateClosed("This gate is closed: its `async with` has ended. Open another one.")

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat_ttl / 3)
            with contextlib.suppress(HitlError):
                await self._store.send_heartbeat(self._process, self._heartbeat_ttl)
