"""Only one run of a thread at a time in this process: parallel nodes can wait for several reviews."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

from hitl_core.integrations.langgraph.driver.run import check_outside_of_runs


class ThreadLocks:
    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock_of(self, thread_id: str) -> asyncio.Lock:
        """Raises IntegrationError in a tool or a node of another run, which may hold this lock."""
        check_outside_of_runs()
        return self._locks.setdefault(thread_id, asyncio.Lock())
