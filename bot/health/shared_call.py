"""One call answers all who ask at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedCall(Generic[T]):
    """Only one call runs at a time. Those who ask while it runs share the next one, so each answer is newer
    than its question.
    """

    def __init__(self, call: Callable[[], Awaitable[T]]) -> None:
        self._call = call
        self._one_at_a_time = asyncio.Lock()
        self._next: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        """Raises what the call raises."""
        self._next = self._next or asyncio.create_task(self._run())
        return await asyncio.shield(self._next)  # the others still wait for it

    async def _run(self) -> T:
        async with self._one_at_a_time:
            self._next = None
            return await self._call()
