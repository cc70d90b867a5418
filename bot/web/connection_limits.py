"""The limits of all connections together: their number and which are closed first, the shares of agents, and
answers that nobody reads.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

#: How long a client may read nothing of its answer, in seconds.
READ_TIMEOUT = 10.0
#: The most bytes of answers that clients have not read yet. Above this, the connections that wait longest are
#: closed.
MAX_UNREAD = 48 * 1024 * 1024


@dataclass
class _Unread:
    size: int
    last_read: float


class SlowReaders:
    """The clients that read an answer more slowly than it was written. Unread answers stay in memory."""

    def __init__(self) -> None:
        # The one that waits longest is first.
        self._unread: dict[asyncio.Transport, _Unread] = {}

    def add(self, transport: asyncio.Transport) -> None:
        """Note that much of an answer was written to this transport and is not read yet."""
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


#: The number of ranks.
RANKS = 4


class Ranked(Protocol):
    @property
    def rank(self) -> int:
        """From 0, which is closed first, to RANKS - 1."""
        ...


R = TypeVar("R", bound=Ranked)


class EvictionOrder(Generic[R]):
    """The order in which connections are closed if there are too many: by rank; in each rank, the one that
    has had it the longest comes first. A change takes the same time for any number of members.
    """

    def __init__(self) -> None:
        self._by_rank = tuple(OrderedDict[R, None]() for _ in range(RANKS))
        self._ranks: dict[R, int] = {}

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[R]:
        for members in self._by_rank:
            yield from members

    def add(self, member: R) -> None:
        rank = self._ranks[member] = member.rank
        self._by_rank[rank][member] = None

    def remove(self, member: R) -> None:
        if (rank := self._ranks.pop(member, None)) is not None:
            del self._by_rank[rank][member]

    def update(self, member: R) -> None:
        """Call it when the rank of a member may have changed. The member is then the last of its rank."""
        if member in self._ranks:
            self.remove(member)
            self.add(member)


#: The request of a person who presses a button is rarely larger. It contains the message with the button.
MAX_CLICK = 128 * 1024


class Arriving(Protocol):
    """A connection whose request is still arriving."""

    is_authenticated: bool
    buffered_bytes: int


A = TypeVar("A", bound=Arriving)


def sort_for_closing(arriving: Iterable[A]) -> list[A]:
    """The order in which connections are closed if all of them together take too much memory: first requests
    that are too large for a person's click; among these, unauthenticated ones first, then the largest.
    """
    return sorted(
        arriving,
        key=lambda one: (
            one.buffered_bytes <= MAX_CLICK,
            one.is_authenticated,
            -one.buffered_bytes,
        ),
    )


class Share:
    """The connections that agents use at the same time, so that clicks and probes get some too: at most
    `most` requests of all tokens together, and at most half of that for one token.
    """

    def __init__(self, most: int) -> None:
        self._most, self._alone = max(2, most), max(1, most // 2)
        self._of, self._all = Counter[str](), 0

    def take(self, token: str) -> bool:
        """Take a share for one more request. Returns False if there is none left. After True the caller must
        call `give_back` later.
        """
        if self._all >= self._most or self._of[token] >= self._alone:
            return False
        self._of[token] += 1
        self._all += 1
        return True

    def give_back(self, token: str) -> None:
        self._of[token] -= 1
        self._all -= 1
        if not self._of[token]:
            del self._of[token]


#: The most connections, if the system allows this process that many files plus RESERVED_FILES.
MAX_CONNECTIONS = 4000
RESERVED_FILES = 200


def open_more_files() -> None:
    """Raise the limit of open files to what the connections need, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (
        MAX_CONNECTIONS + RESERVED_FILES
        if hard == resource.RLIM_INFINITY
        else min(MAX_CONNECTIONS + RESERVED_FILES, hard)
    )
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def default_max_connections() -> int:
    """The most connections of a server that this process can open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limited = files != resource.RLIM_INFINITY
    return max(50, min(MAX_CONNECTIONS, files - RESERVED_FILES)) if limited else MAX_CONNECTIONS
