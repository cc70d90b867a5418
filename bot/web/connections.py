"""Who is connected to the bot's HTTP server, what they may use of it, and when they must go.

A stranger is a connection whose request has not shown yet whom it comes from: Slack by its signature, an
agent by its token. There is no limit per address: Slack, and all that comes through one proxy, have very few.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import resource
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

from aiohttp import web

from .logs import ThrottledLog
from .memory import give_back
from .shares import Share

log = logging.getLogger(__name__)

#: How long a stranger may take to send the head of a request, in seconds, however slowly it comes.
HEAD_TIMEOUT = 5.0
#: How long a connection that was used by somebody known may be idle, in seconds. Longer than load balancers
#: keep theirs, 60 s by default: a side that closes first can meet a request that is on its way.
IDLE_TIMEOUT = 75.0
#: The most bytes that may come in before the first request has a handler: its head, and what came with it.
MAX_HEAD = 96 * 1024
#: Read at once from a connection, in bytes: more would hold the event loop while it is parsed; and less of a
#: head, as aiohttp quotes what it can't read, several times over.
READ_SIZE, FIRST_READ_SIZE = 16 * 1024, 4 * 1024
#: aiohttp keeps errors about heads in cycles: after so many bytes of heads they are looked for.
GC_THRESHOLD = 8 * 1024 * 1024
#: The most connections, where the system lets this process open as many files and some more.
MAX_CONNECTIONS = 4000
RESERVED_FILES = 200
#: Of these, for agents' requests in all and for those of them that wait for people. Without the rest nobody
#: could decide what agents wait for. One token has half of each.
AGENTS, WAITING = 3 / 4, 1 / 2
#: The most that heads and bodies which are still arriving may take in all, in bytes; and what is left of that
#: where it was too much.
MAX_BUFFERED = 48 * 1024 * 1024
KEEP_RATIO = 3 / 4
WATCH_INTERVAL = 1.0
#: When heads and bodies of so many bytes are over, what they took is given back to the system.
RETURNED = 16 * 1024 * 1024


class Connection(asyncio.Protocol):
    """One connection. It hands everything on to aiohttp's own protocol, and counts."""

    def __init__(self, connections: Connections, inner: asyncio.Protocol) -> None:
        self._connections, self._inner = connections, inner
        self._transport: asyncio.Transport | None = None
        self._request_started = False
        self.last_used = time.monotonic()
        self.is_busy = False
        """A request is being handled. That has limits of its own."""
        self.is_authenticated = False
        """The newest request has shown whom it comes from."""
        self.buffered_bytes = 0
        """Bytes of a head or a body that is still arriving."""
        self._taken: dict[Share, str] = {}
        """What the request that is being handled takes of what agents may use."""
        self._agents = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._set_read_size(FIRST_READ_SIZE)
        self._inner.connection_made(transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        if not self._request_started:
            self.set_buffered(self.buffered_bytes + len(data))
            self._connections.count_head(len(data))
            if self.buffered_bytes > MAX_HEAD:
                self.abort()
                return
        self._inner.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        self.set_buffered(0)
        self._inner.connection_lost(exc)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def begin_request(self) -> None:
        self._request_started, self.is_busy, self.is_authenticated = True, True, False
        self._connections.update_rank(self)
        self.set_buffered(0)
        self._set_read_size(READ_SIZE)

    def finish_request(self) -> None:
        self.is_busy, self.last_used = False, time.monotonic()
        self._connections.update_rank(self)
        for share, token in self._taken.items():
            share.give_back(token)
        self._taken.clear()

    def mark_authenticated(self) -> None:
        self.is_authenticated = True
        self._connections.update_rank(self)

    def admit(self, token: str, *, waits: bool) -> bool:
        """Whether an agent's request may go on, or `waits` for people; asked more than once, it is one."""
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
        """Whether the connection stays after an answer."""
        return self.is_authenticated and not (self._agents and self._connections.is_crowded)

    def _set_read_size(self, size: int) -> None:
        if hasattr(self._transport, "max_size"):  # asyncio's own transports have no setting for it
            cast(Any, self._transport).max_size = size

    def set_buffered(self, size: int) -> None:
        """So many bytes have arrived of what is not whole."""
        self._connections.buffered_bytes += size - self.buffered_bytes
        self._connections.freed += max(0, self.buffered_bytes - size)
        self.buffered_bytes = size
        if self._connections.buffered_bytes > MAX_BUFFERED:
            self._connections.make_room()

    def abort(self) -> None:
        """At once. A handler that reads or writes gets ConnectionError."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_expired(self) -> bool:
        idle = time.monotonic() - self.last_used
        return not self.is_busy and idle > (IDLE_TIMEOUT if self.is_authenticated else HEAD_TIMEOUT)

    @property
    def rank(self) -> int:
        """Who must go first where there is no room: strangers, and of both kinds who asks nothing."""
        return 2 * self.is_authenticated + self.is_busy


class Connections:
    """All connections of one server, while `watch` runs."""

    def __init__(self, max_connections: int | None = None) -> None:
        self._max_connections = (
            _default_max_connections() if max_connections is None else max_connections
        )
        # By rank. In each the first is the one that has been of this rank for the longest time.
        self._by_rank = tuple(OrderedDict[Connection, None]() for _ in range(4))
        self._ranks: dict[Connection, int] = {}
        self._head_bytes = 0
        self.buffered_bytes = 0
        """Bytes of all heads and bodies that are still arriving."""
        self.freed = 0
        """Bytes of those that have arrived or ended, since memory was given back."""
        self.agents = Share(int(self._max_connections * AGENTS))
        self.waiting = Share(int(self._max_connections * WAITING))
        self._full_log = ThrottledLog(
            log, "There were %d connections too many: the server has %d at most."
        )
        self._crowded = ThrottledLog(
            log,
            "%d requests of agents were refused, as too many of them are under way; the newest was of the"
            " token %s. Each that waits takes a connection: run more bots, or wait in fewer places",
        )

    def __len__(self) -> int:
        return len(self._ranks)

    @property
    def is_crowded(self) -> bool:
        """Whether agents' connections go after an answer: what is left is for others."""
        return len(self) > self._max_connections * AGENTS

    def warn_of(self, token: str) -> None:
        self._crowded.warn(token)

    def add(self, visit: Connection) -> None:
        """Where there are too many one must go. That is never one with a request of somebody known."""
        first = next(self._eviction_order(), visit)
        self._ranks[visit] = visit.rank
        self._by_rank[visit.rank][visit] = None
        if len(self) > self._max_connections:
            self._full_log.warn(self._max_connections)
            goes = visit if first.is_authenticated and first.is_busy else first
            goes.abort()
            self.remove(goes)

    def remove(self, visit: Connection) -> None:
        if (rank := self._ranks.pop(visit, None)) is not None:
            del self._by_rank[rank][visit]

    def update_rank(self, visit: Connection) -> None:
        """Its rank may have changed, or it has been used."""
        if (rank := self._ranks.get(visit)) is not None:
            del self._by_rank[rank][visit]
            self._ranks[visit] = visit.rank
            self._by_rank[visit.rank][visit] = None

    def _eviction_order(self) -> Iterator[Connection]:
        """Who must go first comes first."""
        for rank in self._by_rank:
            yield from rank

    def count_head(self, size: int) -> None:
        """A part of a head has come."""
        self._head_bytes += size
        if self._head_bytes > GC_THRESHOLD:
            self._head_bytes = 0
            gc.collect()

    def make_room(self) -> None:
        """Of those that are still arriving the slowest go, strangers first."""
        for one in [one for one in self._eviction_order() if one.buffered_bytes]:
            if self.buffered_bytes <= MAX_BUFFERED * KEEP_RATIO:
                return
            one.abort()
            one.set_buffered(0)

    async def watch(self) -> None:
        """Until it is cancelled: ends those that are over, and gives memory back."""
        while True:
            await asyncio.sleep(WATCH_INTERVAL)
            for visit in [one for one in self._eviction_order() if one.is_expired]:
                visit.abort()
            if self.freed > RETURNED:
                self.freed = 0
                give_back()


def connection_of(request: web.BaseRequest) -> Connection | None:
    """None where the client is gone, and on another server than ours."""
    protocol = request.transport.get_protocol() if request.transport else None
    return protocol if isinstance(protocol, Connection) else None


def mark_authenticated(request: web.BaseRequest) -> None:
    """This request has shown whom it comes from."""
    if (visit := connection_of(request)) is not None:
        visit.mark_authenticated()


def admit(request: web.BaseRequest, token: str, *, waits: bool = False) -> bool:
    """`know`, of an agent's request. False where too many of this token or of all are under way: then it must
    be refused. `waits`: it is about to wait for people.
    """
    mark_authenticated(request)
    visit = connection_of(request)
    return visit is None or visit.admit(token, waits=waits)


def is_authenticated(request: web.BaseRequest) -> bool:
    visit = connection_of(request)
    return visit is not None and visit.is_authenticated


def open_more_files() -> None:
    """As many as connections and the rest take, where the system lets this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (
        MAX_CONNECTIONS + RESERVED_FILES
        if hard == resource.RLIM_INFINITY
        else min(MAX_CONNECTIONS + RESERVED_FILES, hard)
    )
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _default_max_connections() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limited = files != resource.RLIM_INFINITY
    return max(50, min(MAX_CONNECTIONS, files - RESERVED_FILES)) if limited else MAX_CONNECTIONS
