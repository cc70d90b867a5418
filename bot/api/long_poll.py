"""Long polls. One listener serves all waiting requests, and the reviews themselves are checked regularly,
once for all requests that ask for the same.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Hashable

from hitl_core.errors import StoreUnavailable
from hitl_core.gate import Watchers
from hitl_core.store import Store
from hitl_core.tasks import cancel_tasks

from ..shared_reads import SharedReads

#: How often the reviews themselves are checked, in seconds, because hints can be lost.
RECHECK_INTERVAL = 15.0
#: The pause after the store could not be reached, in seconds. When the store is back, the listener wakes all
#: requests.
STORE_RETRY = 5.0
#: How often a request checks that its client is still connected, in seconds.
CLIENT_CHECK_INTERVAL = 2.0
#: The shortest time between two checks of a request that waits for any review, in seconds.
MIN_INTERVAL = 0.2


class LongPoll(Watchers):
    """Listens from the first wait until `close`. A waiting request needs no connection to the store."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._reads = SharedReads()
        self._listener: asyncio.Task[None] | None = None
        self._closed = False

    async def close(self) -> None:
        """Answer all waiting requests now."""
        self._closed = True
        self.wake_all()
        if self._listener is not None:
            await cancel_tasks([self._listener])

    async def wait(
        self,
        review_id: str | None,
        key: Hashable,
        is_enough: Callable[[], Awaitable[bool]],
        seconds: float,
        is_gone: Callable[[], bool],
    ) -> None:
        """Calls `is_enough` when this review (None: any review) may have changed. All requests with the same
        `key` share the call: otherwise a thousand requests of one agent would read a thousand times after
        each change. Ends when it returns True, when the time is over, or when the client is gone. It keeps
        nothing in memory, because a thousand requests may wait.

        If the store can't be reached for a while, it continues, and raises StoreUnavailable only at the end.
        """
        finish = time.monotonic() + seconds
        if seconds:
            self._listen()
        with self.watch(review_id) as wakeup:
            while True:
                wakeup.clear()
                checked_at = time.monotonic()
                pause = RECHECK_INTERVAL * random.uniform(0.8, 1.0)
                try:
                    enough = await self._reads.read(key, is_enough)
                    if enough or self._is_over(finish, is_gone):
                        return
                except StoreUnavailable:
                    if self._is_over(finish, is_gone):
                        raise
                    pause = STORE_RETRY
                await self._wait_wakeup(
                    wakeup, min(finish, checked_at + pause), lambda: self._is_over(finish, is_gone)
                )
                if review_id is None:
                    await asyncio.sleep(checked_at + MIN_INTERVAL - time.monotonic())

    def _is_over(self, finish: float, is_gone: Callable[[], bool]) -> bool:
        return self._closed or is_gone() or time.monotonic() >= finish

    async def _wait_wakeup(
        self, wakeup: asyncio.Event, until: float, is_over: Callable[[], bool]
    ) -> None:
        """Waits until `wakeup` is set or `until`. It polls for the client, whose end aiohttp doesn't
        report.
        """
        while (left := until - time.monotonic()) > 0 and not is_over():
            try:
                async with asyncio.timeout(min(left, CLIENT_CHECK_INTERVAL)):
                    await wakeup.wait()
                return
            except TimeoutError:
                pass

    def _listen(self) -> None:
        if not self._closed and (self._listener is None or self._listener.done()):
            listener = self.listen(lambda: self._store.changes(10.0), may_have_missed=True)
            self._listener = asyncio.create_task(listener)
