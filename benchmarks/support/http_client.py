"""An HTTP client over plain sockets. It uses little CPU, so that the measured programs have it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


def post_request(path: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """A complete request, ready to send."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    head = [f"POST {path} HTTP/1.1", "Host: bench", f"Content-Length: {len(body)}", *lines, "", ""]
    return "\r\n".join(head).encode() + body


class Connection:
    """A keep-alive connection; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, request: bytes, expected: int = 200) -> bytes:
        """Returns the body of the answer. Raises RuntimeError if its status is not the expected one."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await self._reader.readexactly(int(length[1]) if length else 0)
        if int(head.split(None, 2)[1]) != expected:
            raise RuntimeError(f"The server answered {head[:60]!r} {body[:200]!r}.")
        return body


@asynccontextmanager
async def open_connection(url: str) -> AsyncGenerator[Connection, None]:
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


async def measure_rate(
    requests: Sequence[bytes], urls: Sequence[str], at_once: int, expected: int = 200
) -> float:
    """Requests per second, this many at a time, spread evenly over the servers."""
    waiting = iter(requests)

    async def work(connection: Connection) -> None:
        for request in waiting:
            await connection.send(request, expected)

    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(open_connection(urls[number % len(urls)]))
            for number in range(at_once)
        ]
        start = time.perf_counter()
        await asyncio.gather(*map(work, connections))
        return len(requests) / (time.perf_counter() - start)
