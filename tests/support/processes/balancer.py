"""A load balancer between Slack and the bots: it checks which bots are ready, and sends each request to one
of them.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

#: The seconds between two checks of a bot.
EVERY = 0.2
#: Headers that belong to one connection, so they are not forwarded.
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "date"}


class Balancer:
    """`url` is the address for Slack. A request that reached a bot is never sent to another one."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._bots: list[str] = []
        self._ready: set[str] = set()
        self._turns = itertools.count()
        self.url = ""
        #: How many requests each bot got, by its address.
        self.served: dict[str, int] = {}

    def add(self, url: str) -> None:
        self._bots.append(_root(url))

    def is_ready(self, url: str) -> bool:
        return _root(url) in self._ready

    async def watch(self) -> None:
        while True:
            for bot in self._bots:
                (self._ready.add if await self._asks(bot) else self._ready.discard)(bot)
            await asyncio.sleep(EVERY)

    async def forward(self, request: web.Request) -> web.Response:
        body = await request.read()
        ready = [bot for bot in self._bots if bot in self._ready]
        start = next(self._turns) % max(1, len(ready))
        headers = {k: v for k, v in request.headers.items() if k.lower() not in HOP_BY_HOP}
        for bot in [*ready[start:], *ready[:start]]:
            try:
                async with self._session.request(
                    request.method, bot + request.path_qs, data=body, headers=headers
                ) as answer:
                    self.served[bot] = self.served.get(bot, 0) + 1
                    kept = {k: v for k, v in answer.headers.items() if k.lower() not in HOP_BY_HOP}
                    return web.Response(
                        status=answer.status, body=await answer.read(), headers=kept
                    )
            except aiohttp.ClientConnectorError:
                continue  # the connection was refused, so nothing was sent
            except aiohttp.ClientError:
                return web.Response(status=502)
        return web.Response(status=503)

    async def _asks(self, bot: str) -> bool:
        try:
            async with self._session.get(
                f"{bot}/readyz", headers={"Connection": "close"}
            ) as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False


@asynccontextmanager
async def balancer() -> AsyncGenerator[Balancer, None]:
    async with aiohttp.ClientSession() as session:
        made = Balancer(session)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", made.forward)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        made.url = "http://{}:{}/slack/events".format(*runner.addresses[0][:2])
        watching = asyncio.create_task(made.watch())
        try:
            yield made
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await runner.cleanup()


def _root(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
