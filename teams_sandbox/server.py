"""The sandbox as one web server: the Connector, Graph, the two logins, and the page."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from .delivery import ANSWER_TIMEOUT
from .hosts import require_local_host
from .page import PageApi
from .sandbox import CLIENT_SECRET, Sandbox

_MAX_BYTES = 20 * 1024 * 1024


@web.middleware
async def end_without_client(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Logs no error if a client was killed in the middle of its request."""
    try:
        return await handler(request)
    except ConnectionResetError:
        if request.transport is not None:
            raise
        return web.Response(status=400)


def web_app(sandbox: Sandbox) -> web.Application:
    """The web server of one sandbox."""

    page = PageApi(sandbox)

    async def open_session(app: web.Application) -> AsyncIterator[None]:
        async with aiohttp.ClientSession() as session:
            sandbox.bot_client.session = session
            yield

    async def end(app: web.Application) -> None:
        page.end()
        await sandbox.end()

    app = web.Application(
        client_max_size=_MAX_BYTES, middlewares=[end_without_client, require_local_host]
    )
    app.add_routes(sandbox.connector.routes())
    app.add_routes(sandbox.graph.routes())
    app.add_routes(sandbox.login.routes())
    app.add_routes(sandbox.files.routes())
    app.add_routes(page.routes())
    app.cleanup_ctx.append(open_session)
    app.on_shutdown.append(end)
    return app


@asynccontextmanager
async def running_sandbox(
    bot_url: str | None = None,
    client_secret: str = CLIENT_SECRET,
    *,
    rate_limits: bool | float = False,
    permissions: Iterable[str] | None = None,
    now: Callable[[], float] = time.time,
    answer_timeout: float = ANSWER_TIMEOUT,
    port: int = 0,
) -> AsyncGenerator[Sandbox]:
    """A sandbox that listens on 127.0.0.1 while the block runs; port 0 takes a free one. `now` is its clock,
    `answer_timeout` how long it waits for the bot's answer, both in seconds. `rate_limits`: True for Teams'
    own limits, a number for limits that are this many times as fast. `permissions`: the Graph permissions
    that the administrator granted.
    """
    sandbox = Sandbox(
        bot_url,
        client_secret,
        rate_limits=rate_limits,
        permissions=permissions,
        now=now,
        answer_timeout=answer_timeout,
    )
    runner = web.AppRunner(web_app(sandbox), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        host, bound = runner.addresses[0][:2]
        sandbox.url = f"http://{host}:{bound}"
        yield sandbox
    finally:
        await runner.cleanup()
