"""A small application, and a client that sends any bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from urllib.parse import urlsplit

from aiohttp import web

from bot.web.requests import BodyError, mark_authenticated, read_body

MOST = 1024 * 1024


#: In place of 5 and 10 s. Waits in tests have much more time than this.
SHORT = 0.3


PATIENCE = 20.0


Serve = Callable[..., AbstractAsyncContextManager[str]]


class Release(asyncio.Event):
    """What polls wait for; `asked` is how many there are."""

    asked = 0


def application(release: Release) -> web.Application:
    async def take(request: web.Request) -> web.Response:
        try:
            return web.Response(text=str(len(await read_body(request, MOST))))
        except BodyError as error:
            return web.Response(status=400, text=error.code)

    async def known_take(request: web.Request) -> web.Response:
        mark_authenticated(request)
        return await take(request)

    async def poll(request: web.Request) -> web.Response:
        """As the HTTP API does: a known client waits."""
        mark_authenticated(request)
        release.asked += 1
        await release.wait()
        return web.Response(text="now")

    async def fine(_: web.Request) -> web.Response:
        return web.Response(text="fine")

    async def large(request: web.Request) -> web.Response:
        """An answer that no socket's buffer holds, for a client that is known."""
        mark_authenticated(request)
        return web.Response(body=b"x" * LARGE)

    app = web.Application()
    app.router.add_get("/large", large)
    app.router.add_post("/take", take)
    app.router.add_post("/known-take", known_take)
    app.router.add_get("/poll", poll)
    app.router.add_route("*", "/fine", fine)
    return app


class Wire:
    """A client that sends any bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, url: str, said: bytes = b"") -> Wire:
        where = urlsplit(url)
        wire = cls(*await asyncio.open_connection(where.hostname, where.port))
        wire.writer.write(said)
        return wire

    async def rest(self) -> bytes:
        """All bytes until the server closes the connection, which most tests here expect."""
        answer = b""
        async with asyncio.timeout(PATIENCE):
            try:
                while part := await self.reader.read(65536):
                    answer += part
            except ConnectionError:  # it closed the connection before it had read everything
                pass
            finally:
                await self.close()
        return answer

    async def is_open(self) -> bool:
        """Whether it answers one more request."""
        self.writer.write(b"GET /fine HTTP/1.1\r\nHost: x\r\n\r\n")
        return b"fine" in await self.rest()

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


LARGE = 24 * 1024 * 1024


HEAD = b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
