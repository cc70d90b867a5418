"""A TCP proxy in front of Redis that can lose a reply: the server has executed the command, but the client
doesn't learn it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit


class Proxy:
    """`drop_reply(n)`: the reply to the n-th of the following commands is lost, and its connection is closed.

    With `hold`, later connections get no answer until `release()`.
    """

    def __init__(self, target: str) -> None:
        self.lead_to(target)
        self._left: int | None = None
        self._hold, self._free = False, asyncio.Event()
        #: Returns the delay of the next reply, in seconds.
        self.delay: Callable[[], float] | None = None
        #: Returns what the client gets in place of these bytes of the server.
        self.rewrite: Callable[[bytes], bytes] = lambda data: data
        #: All connections are reset each time after this many commands.
        self.reset_every: int | None = None
        self.resets, self._to_reset = 0, 0
        #: The largest number of connections at the same time.
        self.most_open = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self.commands: list[bytes] = []
        #: The total number of connections.
        self.accepted = 0
        self.url = ""

    def lead_to(self, target: str) -> None:
        """Later connections lead to this server."""
        parts = urlsplit(target)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 6379

    def drop_reply(self, nth: int = 1, *, hold: bool = False) -> None:
        self._left, self._hold = nth, hold
        self.commands.clear()

    @property
    def dropped(self) -> bool:
        return self._left == 0

    @property
    def open(self) -> int:
        """The number of connections now."""
        return len(self._writers) // 2

    def release(self) -> None:
        self._free.set()

    async def serve(self, down: asyncio.StreamReader, down_writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        if self._hold and self.dropped:
            await self._free.wait()
        up, up_writer = await asyncio.open_connection(self._host, self._port)
        self._writers |= {down_writer, up_writer}
        self.most_open = max(self.most_open, self.open)
        losing = asyncio.Event()
        there = asyncio.create_task(self._there(down, up_writer, losing))
        back = asyncio.create_task(self._back(up, down_writer, losing))
        await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        for task in (there, back):
            task.cancel()
        await asyncio.gather(there, back, return_exceptions=True)
        for writer in (down_writer, up_writer):
            self._writers.discard(writer)
            writer.close()

    async def _there(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, losing: asyncio.Event
    ) -> None:
        """redis-py sends a command (or a pipeline) and awaits its reply, so one read contains exactly one.
        This is not true for arguments of more than 64 KiB.
        """
        while data := await source.read(65536):
            if data.startswith(b"*"):
                self._count_to_reset()
            if self._left and data.startswith(b"*"):
                self.commands.append(data)
                self._left -= 1
                if self._left == 0:
                    losing.set()
            sink.write(data)
            await sink.drain()

    async def _back(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, losing: asyncio.Event
    ) -> None:
        while data := await source.read(65536):
            if losing.is_set():
                return
            if self.delay is not None:
                await asyncio.sleep(self.delay())
            sink.write(self.rewrite(data))
            await sink.drain()

    def _count_to_reset(self) -> None:
        if self.reset_every is None:
            return
        self._to_reset = (self._to_reset or self.reset_every) - 1
        if self._to_reset == 0:
            self.resets += 1
            self.reset()

    def reset(self) -> None:
        """Resets all connections, as a firewall does that has forgotten them."""
        for writer in self._writers:
            at_once = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            writer.transport.abort()

    def cut(self) -> None:
        for writer in self._writers:
            writer.close()


@contextlib.asynccontextmanager
async def proxy_to(url: str) -> AsyncIterator[Proxy]:
    proxy = Proxy(url)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
