"""The sandbox as one web server: Slack's Web API, its response urls and uploads, and the page."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from .errors import SlackError
from .page import PageApi, require_local_host
from .sandbox import ANSWER_TIMEOUT, BOT_TOKEN, SIGNING_SECRET, Sandbox
from .web_api import drop_connection, upload_routes

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


class SandboxServer:
    """The web server of one sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox, self._page = sandbox, PageApi(sandbox)

    def web_app(self) -> web.Application:
        app = web.Application(
            client_max_size=_MAX_BYTES, middlewares=[end_without_client, require_local_host]
        )
        app.router.add_route("*", "/api/{method}", self._sandbox.api.handle)
        app.router.add_post("/actions/{team}/{key}", self._respond)
        app.router.add_get(r"/archives/{channel}/p{ts:\d+}", self._permalink)
        app.router.add_get("/link/", self._sandbox.socket_mode.handle)
        app.add_routes(upload_routes(self._sandbox.workspace))
        app.add_routes(self._page.routes())
        app.cleanup_ctx.append(self._client_session)
        app.on_shutdown.append(self._end)
        return app

    async def _client_session(self, app: web.Application) -> AsyncIterator[None]:
        async with aiohttp.ClientSession() as session:
            self._sandbox.app_client.session = session
            yield

    async def _end(self, app: web.Application) -> None:
        self._sandbox.closing = True
        await self._sandbox.socket_mode.end()
        await self._page.end()
        await self._sandbox.events.end()
        self._sandbox.api.closing.set()
        for stream in self._sandbox.streams:
            stream.set()

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        """An app's answer to a click. In `faults` and `calls` its method is "response_url"."""
        body = json.loads(await request.text())
        self._sandbox.api.calls.append(
            {
                "method": "response_url",
                "at": self._sandbox.workspace.now(),
                "args": body,
                "error": None,
            }
        )
        fault = self._sandbox.faults.next_fault("response_url")
        if fault and fault.mode != "ok_but_reset":
            return await self._sandbox.api.fault_response(request, fault)
        try:
            self._sandbox.response_urls.answer(request.match_info["key"], body)
        except SlackError as error:
            self._sandbox.api.calls[-1]["error"] = error.error
            is_expired = error.error in ("used_url", "expired_url")
            return web.json_response(error.answer, status=404 if is_expired else 400)
        return drop_connection(request) if fault else web.json_response({"ok": True})

    async def _permalink(self, request: web.Request) -> web.StreamResponse:
        digits = request.match_info["ts"]
        channel = request.match_info["channel"]
        raise web.HTTPFound(f"/#{channel}/{digits[:-6]}.{digits[-6:]}")


@asynccontextmanager
async def running_sandbox(
    bot_url: str | None = None,
    signing_secret: str = SIGNING_SECRET,
    bot_token: str = BOT_TOKEN,
    *,
    ask_url: str | None = None,
    rate_limits: bool | float = False,
    scopes: Iterable[str] | None = None,
    now: Callable[[], float] = time.time,
    answer_timeout: float = ANSWER_TIMEOUT,
    data: Path | None = None,
    port: int = 0,
) -> AsyncGenerator[Sandbox]:
    """A sandbox that listens on 127.0.0.1 while the block runs; port 0 takes a free one. `now` is its clock,
    `answer_timeout` how long it waits for the bot's answer, both in seconds. `rate_limits`: True for Slack's
    own limits, a number for limits that are this many times as fast. `data` is a file that keeps the
    messages.
    """
    sandbox = Sandbox(
        bot_url,
        signing_secret,
        bot_token,
        ask_url=ask_url,
        rate_limits=rate_limits,
        scopes=scopes,
        now=now,
        answer_timeout=answer_timeout,
        data=data,
    )
    runner = web.AppRunner(SandboxServer(sandbox).web_app(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        host, bound = runner.addresses[0][:2]
        sandbox.url = f"http://{host}:{bound}"
        yield sandbox
    finally:
        await runner.cleanup()
