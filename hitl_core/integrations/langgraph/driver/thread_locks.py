"""Only one run of a thread at a time, over all processes of the agent: parallel nodes can wait for several
reviews, and two processes can continue one thread. Other code, which runs the graph itself, takes no lock:
see `loaded_state`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal
from uuid import uuid4
from weakref import WeakValueDictionary

from hitl_core.errors import HitlError, LeaseLost, Refused
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.driver.run import check_outside_of_runs, inside_run_error
from hitl_core.review import seconds_since_boot
from hitl_core.store import Store
from hitl_core.tasks import cancel_tasks, run_to_end

log = logging.getLogger(__name__)

#: How often a run asks for a lock that another process has, in seconds.
POLL_INTERVAL = 0.5


class ThreadLocks:
    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._here: WeakValueDictionary[str, _LockHere] = WeakValueDictionary()

    def check_free(self, thread_id: str) -> None:
        """Raises Refused while a run of the thread goes on in this process, and what `hold` raises."""
        check_outside_of_runs()
        if thread_id in self._here and self._here[thread_id].locked():
            raise _busy(thread_id)

    def check_held(self, thread_id: str) -> None:
        """For code within `hold`: raises LeaseLost if another process may run the thread now."""
        here = self._here[thread_id]
        assert here.store_lock
        here.store_lock.check()

    @asynccontextmanager
    async def hold(self, thread_id: str, *, waits: bool) -> AsyncGenerator[None]:
        """Within the block, no other run of the thread goes on. It waits for the runs of this process before,
        and if it `waits`, also for those of other processes: a process that died is waited for until its
        lease would end. Raises Refused otherwise, and IntegrationError in a tool or a node of another run,
        which may hold this lock.
        """
        check_outside_of_runs()
        here = self._here.setdefault(thread_id, _LockHere())
        async with here:
            lock = here.store_lock = _StoreLock(self._gate, thread_id)
            renewals: list[asyncio.Task[None]] = []
            try:
                await lock.take(waits)
                renewals.append(asyncio.create_task(lock.renew()))
                yield
            finally:
                await run_to_end(lock.release(renewals))


class _LockHere(asyncio.Lock):
    """Raises IntegrationError if its own task waits for it, as the `stream` callback of a run may do."""

    _holder: asyncio.Task[Any] | None = None
    store_lock: _StoreLock | None = None

    async def acquire(self) -> Literal[True]:
        if self._holder is asyncio.current_task():
            raise inside_run_error()
        await super().acquire()
        self._holder = asyncio.current_task()
        return True

    def release(self) -> None:
        self._holder = None
        super().release()


class _StoreLock:
    """The lock of a thread for all processes. It ends with its process."""

    def __init__(self, gate: Gate, thread_id: str) -> None:
        self._gate, self._thread_id, self._owner = gate, thread_id, uuid4().hex
        self._renewed_at = float("-inf")

    def check(self) -> None:
        """Raises LeaseLost if another process may have had the lock since `take`: this one was suspended, or
        had no store, for longer than the lease. What that process ran must not run again.
        """
        if seconds_since_boot() - self._renewed_at >= self._gate.lease:
            raise LeaseLost(
                f"This process did not renew its lock of the thread {self._thread_id!r:.80} for"
                f" {self._gate.lease:g} s, so another process may run it now."
            )

    async def take(self, waits: bool) -> None:
        is_told = False
        while not await self._gate.reviews.with_retry(self._take):
            if not waits:
                raise _busy(self._thread_id)
            if not is_told:
                log.warning("Another process runs the thread %r: waiting for it.", self._thread_id)
            is_told = True
            await asyncio.sleep(POLL_INTERVAL)

    async def renew(self) -> None:
        """Until the lock is lost. A lost one is never taken again: `check` must not succeed any more."""
        with suppress(LeaseLost):
            while True:
                await asyncio.sleep(self._gate.lease / 3)
                self.check()
                before = seconds_since_boot()
                try:
                    is_held = await self._hold()
                except HitlError:  # the next attempt may still be in time
                    continue
                self.check()
                self._renewed_at = before if is_held else float("-inf")
        log.warning("Another process may run the thread %r now.", self._thread_id)

    async def release(self, renewals: Iterable[asyncio.Task[None]]) -> None:
        await cancel_tasks(renewals)
        with suppress(HitlError):  # it also ends by itself
            await self._store.release_thread(self._gate.agent, self._thread_id, self._owner)

    async def _take(self) -> bool:
        self._renewed_at = seconds_since_boot()
        return await self._hold()

    @property
    def _store(self) -> Store:
        return self._gate.reviews.store

    async def _hold(self) -> bool:
        gate = self._gate
        return await self._store.hold_thread(gate.agent, self._thread_id, self._owner, gate.lease)


def _busy(thread_id: str) -> Refused:
    return Refused("busy", f"Another run of {thread_id!r:.80} goes on.")
