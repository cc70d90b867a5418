"""What was looked up elsewhere, believed for a while: one look-up of a key at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: So many values are kept at most; then all are forgotten, and looked up again.
MAX_VALUES = 20_000


class Cache(Generic[K, V]):
    """`look` asks for the value of a key; whatever it raises reaches everybody who waits for it."""

    def __init__(self, lookup: Callable[[K], Awaitable[V]]) -> None:
        self._lookup = lookup
        self._values: dict[K, tuple[float, V]] = {}
        self._pending: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K, max_age: float) -> V:
        """A value of at most `max_age` seconds. Who can't wait any longer leaves the look-up going, for the
        next one.
        """
        entry = self._values.get(key)
        if entry is not None and time.monotonic() - entry[0] < max_age:
            return entry[1]
        return await asyncio.shield(self._start_lookup(key))

    def forget(self, key: K) -> None:
        """What is under way may be of before: it answers who waits for it, and is not kept."""
        self._values.pop(key, None)
        self._pending.pop(key, None)

    def _start_lookup(self, key: K) -> asyncio.Task[V]:
        async def load() -> V:
            # A value is as old as its question: it may have changed while the answer was on its way.
            me, asked_at = asyncio.current_task(), time.monotonic()
            try:
                value = await self._lookup(key)
                if self._pending.get(key) is me:
                    if len(self._values) >= MAX_VALUES:
                        self._values.clear()
                    self._values[key] = (asked_at, value)
                return value
            finally:
                if self._pending.get(key) is me:
                    del self._pending[key]

        if (looking := self._pending.get(key)) is None:
            looking = self._pending[key] = asyncio.create_task(load())
            # Where nobody waits any more nobody else would take note of its failure.
            looking.add_done_callback(lambda task: task.cancelled() or task.exception())
        return looking
