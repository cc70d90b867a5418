"""The aiohttp application with the operator's probes. Slack's endpoint and the HTTP API are added to it."""

from __future__ import annotations

import asyncio

from aiohttp import web

from hitl_core.errors import HitlError

from ..health import PROBE_TIMEOUT, Probe, public_reason
from .server import Handler

LEAVING = web.AppKey("leaving", asyncio.Event)


def make_app(ready: Probe, leaving: asyncio.Event) -> web.Application:
    """An application with `/healthz` and `/readyz`. `ready` raises HitlError while the bot can't work.

    After `leaving` is set, requests still work, but each connection is closed, so that a load balancer uses
    another bot.
    """

    @web.middleware
    async def close_when_leaving(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        if leaving.is_set() and not response.prepared:
            response.force_close()
        return response

    async def healthz(_: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def readyz(_: web.Request) -> web.Response:
        try:
            if leaving.is_set():
                raise HitlError("This bot is shutting down.")
            async with asyncio.timeout(PROBE_TIMEOUT):
                return web.json_response({"ok": True, **await ready()})
        except (HitlError, TimeoutError) as error:
            return web.json_response({"ok": False, "why": public_reason(error)}, status=503)

    app = web.Application(middlewares=[close_when_leaving])
    app[LEAVING] = leaving
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    return app
