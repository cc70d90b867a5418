"""One read answers all who ask for the same at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class SharedReads:
    """One read for all who ask for the same before it begins: no result is older than its question."""

    def __init__(self) -> None:
        self._next: dict[Hashable, asyncio.Task[Any]] = {}
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def read(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """The result of the next `read` with this key. Raises what it raises."""
        task: asyncio.Task[T] | None = self._next.get(key)
        if task is None:
            task = self._next[key] = asyncio.create_task(self._run(key, read))
            task.add_done_callback(_ignore_error)
        return await asyncio.shield(task)

    async def _run(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        async with self._locks.setdefault(key, asyncio.Lock()):
            del self._next[key]
            return await read()


def _ignore_error(task: asyncio.Task[Any]) -> None:
    """Nobody may be left who waits for it: else asyncio logs its error."""
    if not task.cancelled():
        task.exception()
