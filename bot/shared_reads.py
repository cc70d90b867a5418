"""Combines equal reads: tasks that ask for the same at the same time share one read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class SharedReads:
    """Tasks that ask for the same key before its read begins share it. So no result is older than its
    question.
    """

    def __init__(self) -> None:
        self._next: dict[Hashable, asyncio.Task[Any]] = {}
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def read(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """The result of the next `read` with this key. Raises what `read` raises."""
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
    """If no task waits for it any more, asyncio would log its error."""
    if not task.cancelled():
        task.exception()
