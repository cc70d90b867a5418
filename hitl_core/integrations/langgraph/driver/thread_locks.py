"""Only one run of a thread at a time in this process: parallel nodes can wait for several reviews."""

from __future__ import annotations

import asyncio
from typing import Any, Literal
from weakref import WeakValueDictionary

from hitl_core.integrations.langgraph.driver.run import check_outside_of_runs, inside_run_error


class ThreadLocks:
    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, _ThreadLock] = WeakValueDictionary()

    def lock_of(self, thread_id: str) -> asyncio.Lock:
        """Raises IntegrationError in a tool or a node of another run, which may hold this lock."""
        check_outside_of_runs()
        return self._locks.setdefault(thread_id, _ThreadLock())


class _ThreadLock(asyncio.Lock):
    """Raises IntegrationError if its own task waits for it, as the `stream` callback of a run may do."""

    _holder: asyncio.Task[Any] | None = None

    async def acquire(self) -> Literal[True]:
        if self._holder is asyncio.current_task():
            raise inside_run_error()
        await super().acquire()
        self._holder = asyncio.current_task()
        return True

    def release(self) -> None:
        self._holder = None
        super().release()
