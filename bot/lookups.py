"""What was looked up elsewhere, believed for a while: one look-up of a key at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Lookups(Generic[K, V]):
    """`look` asks for the value of a key; whatever it raises reaches everybody who waits for it."""

    def __init__(self, look: Callable[[K], Awaitable[V]]) -> None:
        self._look = look
        self._known: dict[K, tuple[float, V]] = {}
        self._looking: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K, max_age: float) -> V:
        """A value of at most `max_age` seconds. Who can't wait any longer leaves the look-up going, for the
        next one.
        """
        known = self._known.get(key)
        if known is not None and time.monotonic() - known[0] < max_age:
            return known[1]
        return await asyncio.shield(self._looked_up(key))

    def forget(self, key: K) -> None:
        """What is under way may be of before: it answers who waits for it, and is not kept."""
        self._known.pop(key, None)
        self._looking.pop(key, None)

    def _looked_up(self, key: K) -> asyncio.Task[V]:
        async def look() -> V:
            me = asyncio.current_task()
            try:
                value = await self._look(key)
                if self._looking.get(key) is me:
                    self._known[key] = (time.monotonic(), value)
                return value
            finally:
                if self._looking.get(key) is me:
                    del self._looking[key]

        if (looking := self._looking.get(key)) is None:
            looking = self._looking[key] = asyncio.create_task(look())
            # Where nobody waits any more nobody else would take note of its failure.
            looking.add_done_callback(lambda task: task.cancelled() or task.exception())
        return looking
