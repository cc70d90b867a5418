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

from bot.logs import Rarely
from bot.memory import give_back
from bot.shares import Share

log = logging.getLogger(__name__)

#: How long a stranger may take to send the head of a request, in seconds, however slowly it comes.
HEAD = 5.0
#: How long a connection that was used by somebody known may be idle, in seconds. Longer than load balancers
#: keep theirs, 60 s by default: a side that closes first can meet a request that is on its way.
IDLE = 75.0
#: The most bytes that may come in before the first request has a handler: its head, and what came with it.
MOST_HEAD = 96 * 1024
#: Read at once from a connection, in bytes: more would hold the event loop while it is parsed; and less of a
#: head, as aiohttp quotes what it can't read, several times over.
AT_ONCE, AT_FIRST = 16 * 1024, 4 * 1024
#: aiohttp keeps errors about heads in cycles: after so many bytes of heads they are looked for.
COLLECTED = 8 * 1024 * 1024
#: The most connections, where the system lets this process open as many files and some more.
MOST = 4000
OTHER_FILES = 200
#: Of these, for agents' requests in all and for those of them that wait for people. Without the rest nobody
#: could decide what agents wait for. One token has half of each.
AGENTS, WAITING = 3 / 4, 1 / 2
#: The most that heads and bodies which are still arriving may take in all, in bytes; and what is left of that
#: where it was too much.
MOST_ARRIVING = 48 * 1024 * 1024
LEFT = 3 / 4
LOOK = 1.0
#: When heads and bodies of so many bytes are over, what they took is given back to the system.
RETURNED = 16 * 1024 * 1024


class Visit(asyncio.Protocol):
    """One connection. It hands everything on to aiohttp's own protocol, and counts."""

    def __init__(self, visits: Visits, inner: asyncio.Protocol) -> None:
        self._visits, self._inner = visits, inner
        self._transport: asyncio.Transport | None = None
        self._began = False
        self.since = time.monotonic()
        self.busy = False
        """A request is being handled. That has limits of its own."""
        self.known = False
        """The newest request has shown whom it comes from."""
        self.held = 0
        """Bytes of a head or a body that is still arriving."""
        self._taken: dict[Share, str] = {}
        """What the request that is being handled takes of what agents may use."""
        self._agents = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._read_at_once(AT_FIRST)
        self._inner.connection_made(transport)
        self._visits.enter(self)

    def data_received(self, data: bytes) -> None:
        if not self._began:
            self.hold(self.held + len(data))
            self._visits.count_head(len(data))
            if self.held > MOST_HEAD:
                self.end()
                return
        self._inner.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._visits.leave(self)
        self.hold(0)
        self._inner.connection_lost(exc)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def begin(self) -> None:
        self._began, self.busy, self.known = True, True, False
        self._visits.sort_in(self)
        self.hold(0)
        self._read_at_once(AT_ONCE)

    def finish(self) -> None:
        self.busy, self.since = False, time.monotonic()
        self._visits.sort_in(self)
        for share, token in self._taken.items():
            share.give_back(token)
        self._taken.clear()

    def know(self) -> None:
        self.known = True
        self._visits.sort_in(self)

    def admit(self, token: str, *, waits: bool) -> bool:
        """Whether an agent's request may go on, or `waits` for people; asked more than once, it is one."""
        self._agents = True
        share = self._visits.waiting if waits else self._visits.agents
        if share not in self._taken:
            if not share.take(token):
                self._visits.warn_of(token)
                return False
            self._taken[share] = token
        return True

    @property
    def keeps(self) -> bool:
        """Whether the connection stays after an answer."""
        return self.known and not (self._agents and self._visits.is_crowded)

    def _read_at_once(self, size: int) -> None:
        if hasattr(self._transport, "max_size"):  # asyncio's own transports have no setting for it
            cast(Any, self._transport).max_size = size

    def hold(self, size: int) -> None:
        """So many bytes have arrived of what is not whole."""
        self._visits.arriving += size - self.held
        self._visits.freed += max(0, self.held - size)
        self.held = size
        if self._visits.arriving > MOST_ARRIVING:
            self._visits.make_room()

    def end(self) -> None:
        """At once. A handler that reads or writes gets ConnectionError."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_over(self) -> bool:
        idle = time.monotonic() - self.since
        return not self.busy and idle > (IDLE if self.known else HEAD)

    @property
    def rank(self) -> int:
        """Who must go first where there is no room: strangers, and of both kinds who asks nothing."""
        return 2 * self.known + self.busy


class Visits:
    """All connections of one server, while `watch` runs."""

    def __init__(self, most: int | None = None) -> None:
        self._most = _room() if most is None else most
        # By rank. In each the first is the one that has been of this rank for the longest time.
        self._here = tuple(OrderedDict[Visit, None]() for _ in range(4))
        self._ranks: dict[Visit, int] = {}
        self._heads = 0
        self.arriving = 0
        """Bytes of all heads and bodies that are still arriving."""
        self.freed = 0
        """Bytes of those that have arrived or ended, since memory was given back."""
        self.agents = Share(int(self._most * AGENTS))
        self.waiting = Share(int(self._most * WAITING))
        self._full = Rarely(log, "There were %d connections too many: the server has %d at most.")
        self._crowded = Rarely(
            log,
            "%d requests of agents were refused, as too many of them are under way; the newest was of the"
            " token %s. Each that waits takes a connection: run more bots, or wait in fewer places",
        )

    def __len__(self) -> int:
        return len(self._ranks)

    @property
    def is_crowded(self) -> bool:
        """Whether agents' connections go after an answer: what is left is for others."""
        return len(self) > self._most * AGENTS

    def warn_of(self, token: str) -> None:
        self._crowded.warn(token)

    def enter(self, visit: Visit) -> None:
        """Where there are too many one must go. That is never one with a request of somebody known."""
        first = next(self._each(), visit)
        self._ranks[visit] = visit.rank
        self._here[visit.rank][visit] = None
        if len(self) > self._most:
            self._full.warn(self._most)
            goes = visit if first.known and first.busy else first
            goes.end()
            self.leave(goes)

    def leave(self, visit: Visit) -> None:
        if (rank := self._ranks.pop(visit, None)) is not None:
            del self._here[rank][visit]

    def sort_in(self, visit: Visit) -> None:
        """Its rank may have changed, or it has been used."""
        if (rank := self._ranks.get(visit)) is not None:
            del self._here[rank][visit]
            self._ranks[visit] = visit.rank
            self._here[visit.rank][visit] = None

    def _each(self) -> Iterator[Visit]:
        """Who must go first comes first."""
        for rank in self._here:
            yield from rank

    def count_head(self, size: int) -> None:
        """A part of a head has come."""
        self._heads += size
        if self._heads > COLLECTED:
            self._heads = 0
            gc.collect()

    def make_room(self) -> None:
        """Of those that are still arriving the slowest go, strangers first."""
        for one in [one for one in self._each() if one.held]:
            if self.arriving <= MOST_ARRIVING * LEFT:
                return
            one.end()
            one.hold(0)

    async def watch(self) -> None:
        """Until it is cancelled: ends those that are over, and gives memory back."""
        while True:
            await asyncio.sleep(LOOK)
            for visit in [one for one in self._each() if one.is_over]:
                visit.end()
            if self.freed > RETURNED:
                self.freed = 0
                give_back()


def visit_of(request: web.BaseRequest) -> Visit | None:
    """None where the client is gone, and on another server than ours."""
    protocol = request.transport.get_protocol() if request.transport else None
    return protocol if isinstance(protocol, Visit) else None


def know(request: web.BaseRequest) -> None:
    """This request has shown whom it comes from."""
    if (visit := visit_of(request)) is not None:
        visit.know()


def admit(request: web.BaseRequest, token: str, *, waits: bool = False) -> bool:
    """`know`, of an agent's request. False where too many of this token or of all are under way: then it must
    be refused. `waits`: it is about to wait for people.
    """
    know(request)
    visit = visit_of(request)
    return visit is None or visit.admit(token, waits=waits)


def is_known(request: web.BaseRequest) -> bool:
    visit = visit_of(request)
    return visit is not None and visit.known


def open_more_files() -> None:
    """As many as connections and the rest take, where the system lets this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + OTHER_FILES if hard == resource.RLIM_INFINITY else min(MOST + OTHER_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _room() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limited = files != resource.RLIM_INFINITY
    return max(50, min(MOST, files - OTHER_FILES)) if limited else MOST
