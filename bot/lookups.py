"""What was looked up elsewhere, believed for a while: one look-up of a key at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: So many values are kept at most; then all are forgotten, and looked up again.
MOST = 20_000


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
            # A value is as old as its question: it may have changed while the answer was on its way.
            me, asked_at = asyncio.current_task(), time.monotonic()
            try:
                value = await self._look(key)
                if self._looking.get(key) is me:
                    if len(self._known) >= MOST:
                        self._known.clear()
                    self._known[key] = (asked_at, value)
                return value
            finally:
                if self._looking.get(key) is me:
                    del self._looking[key]

        if (looking := self._looking.get(key)) is None:
            looking = self._looking[key] = asyncio.create_task(look())
            # Where nobody waits any more nobody else would take note of its failure.
            looking.add_done_callback(lambda task: task.cancelled() or task.exception())
        return looking
