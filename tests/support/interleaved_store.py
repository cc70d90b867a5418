"""A store in which another bot writes between a read and a write of this bot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hitl_core.store import MemoryStore
from tests.support.builders import START


class InterleavedStore(MemoryStore):
    """`time` is its clock. Another bot does `meanwhile` once, between a read of this bot and its write."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    def __init__(self) -> None:
        self.time = START
        super().__init__(lambda: self.time)

    async def temporary_value(self, key: str) -> bytes | None:
        value, meanwhile = await super().temporary_value(key), self.meanwhile
        self.meanwhile = None
        if meanwhile is not None:
            await meanwhile()
        return value
