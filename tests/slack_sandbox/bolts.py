"""A real slack-bolt app as the sandbox's bot, over HTTP or Socket Mode."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox.sandbox import Sandbox


@asynccontextmanager
async def install(bolt: AsyncApp, sandbox: Sandbox, sockets: bool) -> AsyncIterator[None]:
    """The app answers the sandbox while the block runs."""
    if sockets:
        sandbox.socket_mode.enabled = True
        own: Any = AsyncWebClient(sandbox.app.app_token, base_url=sandbox.api_url)
        handler = AsyncSocketModeHandler(bolt, sandbox.app.app_token, web_client=own)
        await handler.connect_async()
        yield
        await handler.close_async()
        return

    async def handle(request: web.Request) -> web.Response:
        return await to_aiohttp_response(await bolt.async_dispatch(await to_bolt_request(request)))

    app = web.Application()
    app.router.add_post("/slack/events", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sandbox.bot_url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    yield
    await runner.cleanup()
