"""Clients that read their answer more slowly than it was written: what they don't read stays in memory."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

#: How long a client may read nothing of its answer, in seconds.
READ_TIMEOUT = 10.0
#: The most bytes of answers that clients have not read yet. Above it, those that wait longest are closed.
MAX_UNREAD = 48 * 1024 * 1024


@dataclass
class _Unread:
    size: int
    last_read: float


class SlowReaders:
    def __init__(self) -> None:
        # The one that waits longest is first.
        self._unread: dict[asyncio.Transport, _Unread] = {}

    def add(self, transport: asyncio.Transport) -> None:
        """Much of an answer is written to this transport, and not read yet."""
        self._unread[transport] = _Unread(transport.get_write_buffer_size(), time.monotonic())
        self.close_slowest()

    def remove(self, transport: asyncio.Transport) -> int:
        """The answer was read, or the connection is closed. Returns the bytes that were freed."""
        unread = self._unread.pop(transport, None)
        return unread.size if unread else 0

    def close_slowest(self) -> None:
        """Close the connections of clients that stopped reading, and the first ones while all unread answers
        together are too large.
        """
        now = time.monotonic()
        for transport, unread in self._unread.items():
            size = transport.get_write_buffer_size()
            if size < unread.size:
                unread.size, unread.last_read = size, now
        total = sum(unread.size for unread in self._unread.values())
        for transport, unread in [*self._unread.items()]:
            if total > MAX_UNREAD or now - unread.last_read > READ_TIMEOUT:
                total -= unread.size
                transport.abort()  # which removes it, by `connection_lost`
