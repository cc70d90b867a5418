"""A TCP proxy between a program and a server: it can delay, cut, half-close, go silent, and lose a reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

Address = tuple[str, int]


class Link:
    """`targets`: addresses that are used in turn; one that refuses a connection is skipped, as a load
    balancer does.

    `delay` (seconds in each direction) and `silent` (no data passes, connections stay open) last until they
    are changed. `lose_reply()`: the next reply of a server is lost and its connection is closed; with `hang`
    it stays open.
    """

    def __init__(self, name: str, targets: Sequence[Address]) -> None:
        self.name, self.targets = name, list(targets)
        self.delay, self.port = 0.0, 0
        self._silent = False
        self._held: list[Callable[[], None]] = []
        self._losing: list[bool] = []
        self._turn = 0
        self.pairs: set[_ClientSide] = set()
        #: Connections that are not closed yet, of both sides.
        self.open = 0

    @property
    def silent(self) -> bool:
        return self._silent

    @silent.setter
    def silent(self, silent: bool) -> None:
        self._silent = silent
        if not silent:
            held, self._held = self._held, []
            for send in held:
                send()

    def lose_reply(self, *, hang: bool = False) -> None:
        self._losing.append(hang)

    def cut(self) -> None:
        for side in list(self.pairs):
            side.abort()

    def half_close(self) -> None:
        """The program reads the end of the stream, but what it sends still arrives."""
        for side in list(self.pairs):
            side.end_writing()

    def reset(self) -> None:
        """Ends all faults."""
        self.delay, self.silent = 0.0, False
        self._losing.clear()

    def pass_on(self, send: Callable[[], None]) -> None:
        if self._silent:
            self._held.append(send)
        elif self.delay:
            asyncio.get_running_loop().call_later(self.delay, self.pass_on_late, send)
        else:
            send()

    def pass_on_late(self, send: Callable[[], None]) -> None:
        self._held.append(send) if self._silent else send()

    def take_loss(self) -> bool | None:
        """None if this reply passes. If it must be lost: whether its connection stays open."""
        return self._losing.pop(0) if self._losing else None

    async def connect(self, side: _ClientSide) -> asyncio.Transport | None:
        loop = asyncio.get_running_loop()
        for _ in self.targets:
            self._turn += 1
            host, port = self.targets[self._turn % len(self.targets)]
            try:
                transport, _ = await loop.create_connection(
                    lambda: _ServerSide(self, side), host, port
                )
                return transport
            except OSError:
                continue
        return None


class _ClientSide(asyncio.Protocol):
    """The connection of the program."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._down: asyncio.Transport | None = None
        self._up: asyncio.Transport | None = None
        self._early: list[bytes] = []
        self._task: asyncio.Task[None] | None = None
        self._lost = self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._down = transport
        self._link.open += 1
        self._link.pairs.add(self)
        self._task = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        self._up = await self._link.connect(self)
        if self._up is None or self._down is None or self._down.is_closing():
            self.abort()
            return
        for data in self._early:
            self._up.write(data)
        self._early.clear()

    def data_received(self, data: bytes) -> None:
        self._link.pass_on(lambda: self._send_up(data))

    def _send_up(self, data: bytes) -> None:
        if self._up is None:
            self._early.append(data)
        elif not self._up.is_closing():
            self._up.write(data)

    def receive_reply(self, data: bytes) -> None:
        hang = self._link.take_loss()
        if hang is not None:
            self._lost = True
            if not hang:
                self.abort()
        if not self._lost:
            self._link.pass_on(lambda: self._send_down(data))

    def _send_down(self, data: bytes) -> None:
        if self._down is not None and not self._down.is_closing() and not self._ended:
            self._down.write(data)

    def end_writing(self) -> None:
        self._ended = True
        if self._down is not None and not self._down.is_closing() and self._down.can_write_eof():
            self._down.write_eof()

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.open -= 1
        self._link.pairs.discard(self)
        if self._up is not None:
            self._link.pass_on(self._up.close)

    def abort(self) -> None:
        for transport in (self._down, self._up):
            if transport is not None:
                transport.abort()

    def end(self) -> None:
        """The server has closed its connection."""
        if self._down is not None:
            self._link.pass_on(self._down.close)


class _ServerSide(asyncio.Protocol):
    """The connection to the server."""

    def __init__(self, link: Link, side: _ClientSide) -> None:
        self._link, self._side = link, side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._link.open += 1

    def data_received(self, data: bytes) -> None:
        self._side.receive_reply(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.open -= 1
        self._side.end()


@asynccontextmanager
async def open_link(name: str, targets: Sequence[Address]) -> AsyncGenerator[Link, None]:
    link = Link(name, targets)
    server = await asyncio.get_running_loop().create_server(
        lambda: _ClientSide(link), "127.0.0.1", 0
    )
    link.port = server.sockets[0].getsockname()[1]
    try:
        yield link
    finally:
        server.close()
        link.reset()
        link.cut()
        while link.open:  # noqa: ASYNC110 - each ends in the next round of the loop
            await asyncio.sleep(0)
