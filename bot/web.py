"""The HTTP server: Slack's requests, and what an operator's probes ask."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from hitl_core.errors import HitlError
from hitl_core.failpoints import failpoint

log = logging.getLogger(__name__)

#: Slack's own requests are far smaller; a modal's view has 250 kB at most.
MAX_BODY = 1024 * 1024

#: A request with a wrong signature is told about this often, in seconds: anybody may send them.
WARN_EVERY = 60.0

Probe = Callable[[], Awaitable[dict[str, object]]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
SIGNATURE = "X-Slack-Signature"
LEAVING = web.AppKey("leaving", asyncio.Event)


def make_web(ready: Probe, leaving: asyncio.Event) -> web.Application:
    """The probes. `ready` raises HitlError while the bot can't do its work; while it is `leaving` it does
    all that it is asked, but closes each connection, so that a load balancer takes another bot.
    """

    @web.middleware
    async def parting(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        if leaving.is_set() and not response.prepared:
            response.force_close()
        return response

    async def healthz(_: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def readyz(_: web.Request) -> web.Response:
        try:
            if leaving.is_set():
                raise HitlError("This bot is about to stop.")
            async with asyncio.timeout(2.0):
                return web.json_response({"ok": True, **await ready()})
        except (HitlError, TimeoutError) as error:
            why = str(error) or "Redis did not answer in time."
            return web.json_response({"ok": False, "why": why}, status=503)

    app = web.Application(client_max_size=MAX_BODY, middlewares=[parting])
    app[LEAVING] = leaving
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    return app


def add_slack(app: web.Application, path: str, slack: AsyncApp, signing: SignatureVerifier) -> None:
    """Slack's requests: signed, and handed to Bolt."""
    warned = -math.inf

    def warn() -> None:
        """Nothing of the request is told: whoever sent it is not known."""
        nonlocal warned
        if time.monotonic() - warned >= WARN_EVERY:
            warned = time.monotonic()
            log.warning(
                "a request with a wrong signature was refused (401). If Slack sent it, "
                "SLACK_SIGNING_SECRET is not this app's, or this machine's clock is wrong"
            )

    async def events(request: web.Request) -> web.StreamResponse:
        try:
            body = await request.read()
        except (web.RequestPayloadError, HttpProcessingError):
            return web.Response(status=400)
        if not _signed(request, body, signing):
            if SIGNATURE in request.headers:
                warn()
            return web.Response(status=401)
        try:
            asked = AsyncBoltRequest(body=body.decode(), headers=dict(request.headers))
        except (ValueError, TypeError, AttributeError, RecursionError):
            log.error("a signed request can't be read: it is not Slack's")
            return web.Response(status=400)
        answer = await slack.async_dispatch(asked)
        response = await to_aiohttp_response(answer)
        if app[LEAVING].is_set():
            response.force_close()
        try:
            await response.prepare(request)
            await response.write_eof()
        except ConnectionResetError:  # whatever was decided is stored; the person may press again
            log.warning("an answer came too late: Slack had hung up")
        await failpoint("bot.after_ack")
        return response

    app.router.add_post(path, events)


def _signed(request: web.Request, body: bytes, signing: SignatureVerifier) -> bool:
    """Checked before anything is parsed: Bolt parses first, and raises on a timestamp that is no number or a
    signature that is not ASCII. To a sender all of these are simply wrong, and so are two of them.
    """
    names = ("X-Slack-Request-Timestamp", SIGNATURE)
    if any(len(request.headers.getall(name, ())) != 1 for name in names):
        return False
    timestamp, signature = (request.headers[name] for name in names)
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        return False
    try:
        return signature.isascii() and signing.is_valid(body, timestamp, signature)
    except UnicodeDecodeError:
        return False
