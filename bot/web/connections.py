"""The connections of the bot's HTTP server: their limits, and when they are closed.

A connection is unauthenticated until a request of it is authenticated: Slack's by its signature, an agent's
by its token. There is no limit for each IP address, because Slack and the clients behind a proxy share a few.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, cast

from aiohttp import StreamReader

from ..logs import ThrottledLog
from .connection_limits import (
    EvictionOrder,
    Share,
    SlowReaders,
    default_max_connections,
    sort_for_closing,
)
from .memory import UsedMemory

log = logging.getLogger(__name__)

#: How long the head of a request may take to arrive, in seconds. For the first request it counts from the
#: start of the connection.
HEAD_TIMEOUT = 5.0
#: How long an authenticated connection may be idle, in seconds. It is longer than load balancers keep a
#: connection (60 s by default): the side that closes first may lose a request that is already sent.
IDLE_TIMEOUT = 75.0
#: The most bytes of a request before it has a handler: its head, and what arrived with it.
MAX_HEAD = 96 * 1024
#: How many bytes are read from a connection at once. With more, parsing would block the event loop. Fewer for
#: a head, because aiohttp quotes an unreadable head several times.
READ_SIZE, FIRST_READ_SIZE = 16 * 1024, 4 * 1024
#: The shares of connections for agents' requests, and for those of them that wait for people. The rest is for
#: clicks, without which nobody could decide. One token may use half of each share.
AGENTS, WAITING = 3 / 4, 1 / 2
#: The most bytes of all heads and bodies that are still arriving; and the part to which more is reduced.
MAX_BUFFERED = 48 * 1024 * 1024
KEEP_RATIO = 3 / 4
WATCH_INTERVAL = 1.0


class Connection(asyncio.Protocol):
    """One connection. It passes everything to aiohttp's protocol, and counts bytes and requests."""

    def __init__(self, connections: Connections, inner: asyncio.Protocol) -> None:
        self._connections, self._inner = connections, inner
        self._transport: asyncio.Transport | None = None
        self._body: StreamReader | None = None
        """The body of the newest request."""
        self._head_since: float | None = None
        """When the first byte of an incomplete head arrived."""
        self._is_pipelined = False
        self.last_used = time.monotonic()
        self.is_busy = False
        """A request is being handled, which has its own limits."""
        self.is_authenticated = False
        """The newest request is authenticated."""
        self.buffered_bytes = 0
        """Bytes of the head or body that is still arriving."""
        self._taken: dict[Share, str] = {}
        """The shares that the current request uses."""
        self._agents = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._set_read_size(FIRST_READ_SIZE)
        self._inner.connection_made(transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        if self._body is None or self._body.is_eof():  # so this is a head
            self._head_since = self._head_since or time.monotonic()
            self._is_pipelined = self._is_pipelined or self.is_busy
            self.set_buffered(self.buffered_bytes + len(data))
            self._connections.memory.count_head(len(data))
            if self.buffered_bytes > MAX_HEAD:
                self.abort()
                return
        self._inner.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        self._forget_unread()
        self.set_buffered(0)
        self._inner.connection_lost(exc)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        if self._transport is not None:
            self._connections.slow_readers.add(self._transport)
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._forget_unread()
        self._inner.resume_writing()

    def _forget_unread(self) -> None:
        if self._transport is not None:
            freed = self._connections.slow_readers.remove(self._transport)
            self._connections.memory.count_freed(freed)

    def begin_request(self, body: StreamReader) -> None:
        self._body, self._head_since = body, None
        self.is_busy, self.is_authenticated = True, False
        self._connections.update_rank(self)
        self.set_buffered(0)
        self._set_read_size(READ_SIZE)

    def finish_request(self) -> None:
        self.is_busy, self.last_used = False, time.monotonic()
        self._connections.update_rank(self)
        self._set_read_size(FIRST_READ_SIZE)
        for share, token in self._taken.items():
            share.give_back(token)
        self._taken.clear()

    def count_answer(self, size: int) -> None:
        """Note that an answer of this many bytes was made, so that its memory is returned soon."""
        self._connections.memory.count_freed(size)

    def mark_authenticated(self) -> None:
        self.is_authenticated = True
        self._connections.update_rank(self)

    def admit(self, token: str, *, waits: bool) -> bool:
        """Whether an agent's request may continue, or may wait for people (`waits`). Repeated calls for one
        request count once.
        """
        self._agents = True
        share = self._connections.waiting if waits else self._connections.agents
        if share not in self._taken:
            if not share.take(token):
                self._connections.warn_of(token)
                return False
            self._taken[share] = token
        return True

    @property
    def keeps(self) -> bool:
        """Whether the connection stays open after an answer. It doesn't if the client already sent its next
        request, because that head arrived without its own limits.
        """
        crowded = self._agents and self._connections.is_crowded
        return self.is_authenticated and not self._is_pipelined and not crowded

    def _set_read_size(self, size: int) -> None:
        if hasattr(self._transport, "max_size"):  # not public in asyncio's transports
            cast(Any, self._transport).max_size = size

    def set_buffered(self, size: int) -> None:
        """Set how many bytes of an incomplete head or body have arrived."""
        self._connections.buffered_bytes += size - self.buffered_bytes
        self._connections.memory.count_freed(max(0, self.buffered_bytes - size))
        self.buffered_bytes = size
        if self._connections.buffered_bytes > MAX_BUFFERED:
            self._connections.make_room()

    def abort(self) -> None:
        """Close at once. A handler that reads or writes gets ConnectionError."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_expired(self) -> bool:
        now = time.monotonic()
        is_late = self._head_since is not None and now - self._head_since > HEAD_TIMEOUT
        limit = IDLE_TIMEOUT if self.is_authenticated else HEAD_TIMEOUT
        return not self.is_busy and (is_late or now - self.last_used > limit)

    @property
    def rank(self) -> int:
        """Closed first if there are too many: unauthenticated before authenticated, idle before busy ones."""
        return 2 * self.is_authenticated + self.is_busy


class Connections:
    """All connections of one server, while `watch` runs."""

    def __init__(self, max_connections: int | None = None) -> None:
        self._max_connections = (
            default_max_connections() if max_connections is None else max_connections
        )
        self._order = EvictionOrder[Connection]()
        self.slow_readers = SlowReaders()
        self.buffered_bytes = 0
        """Bytes of all heads and bodies that are still arriving."""
        self.memory = UsedMemory()
        self.agents = Share(int(self._max_connections * AGENTS))
        self.waiting = Share(int(self._max_connections * WAITING))
        self._full_log = ThrottledLog(
            log, "%d connections were too many: the server's limit is %d."
        )
        self._crowded = ThrottledLog(
            log,
            "%d requests of agents were refused because too many are in progress; the newest was by the"
            " token %s. Each waiting request takes a connection: run more bots, or wait in fewer processes",
        )

    def __len__(self) -> int:
        return len(self._order)

    @property
    def is_crowded(self) -> bool:
        """Whether agents' connections must be closed after an answer, so that others can connect."""
        return len(self) > self._max_connections * AGENTS

    def warn_of(self, token: str) -> None:
        self._crowded.warn(token)

    def add(self, connection: Connection) -> None:
        """Add a connection. If there are too many, one is closed, but never a busy authenticated one."""
        first = next(iter(self._order), connection)
        self._order.add(connection)
        if len(self) > self._max_connections:
            self._full_log.warn(self._max_connections)
            evicted = connection if first.is_authenticated and first.is_busy else first
            evicted.abort()
            self.remove(evicted)

    def remove(self, connection: Connection) -> None:
        self._order.remove(connection)

    def update_rank(self, connection: Connection) -> None:
        """Call it after a use, or when the rank may have changed."""
        self._order.update(connection)

    def make_room(self) -> None:
        """Close connections whose request is still arriving, if their requests are too large together."""
        for one in sort_for_closing([one for one in self._order if one.buffered_bytes]):
            if self.buffered_bytes <= MAX_BUFFERED * KEEP_RATIO:
                return
            one.abort()
            one.set_buffered(0)

    async def watch(self) -> None:
        """Runs until cancelled: closes expired connections and returns memory."""
        while True:
            await asyncio.sleep(WATCH_INTERVAL)
            self.slow_readers.close_slowest()
            for connection in [one for one in self._order if one.is_expired]:
                connection.abort()
            self.memory.return_freed()
