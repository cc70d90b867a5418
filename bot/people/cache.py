"""A cache of look-ups with a maximum age; at most one look-up of a key at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: When there are more values, the cache is cleared.
MAX_VALUES = 20_000


class Cache(Generic[K, V]):
    """`lookup` fetches the value of a key. Its error is raised in all callers that wait for it."""

    def __init__(self, lookup: Callable[[K], Awaitable[V]]) -> None:
        self._lookup = lookup
        self._values: dict[K, tuple[float, V]] = {}
        self._pending: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K, max_age: float) -> V:
        """The value, at most `max_age` seconds old. If the caller is cancelled, the look-up continues for the
        next one.
        """
        entry = self._values.get(key)
        if entry is not None and time.monotonic() - entry[0] < max_age:
            return entry[1]
        return await asyncio.shield(self._start_lookup(key))

    def forget(self, key: K) -> None:
        """Drop the value. A look-up in progress still answers its callers, but is not cached."""
        self._values.pop(key, None)
        self._pending.pop(key, None)

    def _start_lookup(self, key: K) -> asyncio.Task[V]:
        async def load() -> V:
            # The age counts from the start of the look-up: the value may change while it runs.
            me, started_at = asyncio.current_task(), time.monotonic()
            try:
                value = await self._lookup(key)
                if self._pending.get(key) is me:
                    if len(self._values) >= MAX_VALUES:
                        self._values.clear()
                    self._values[key] = (started_at, value)
                return value
            finally:
                if self._pending.get(key) is me:
                    del self._pending[key]

        if (task := self._pending.get(key)) is None:
            task = self._pending[key] = asyncio.create_task(load())
            # Without this asyncio logs an error that no caller waits for.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task
