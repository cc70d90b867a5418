"""The HTTP server, and the limits that it applies before any handler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from aiohttp import HttpVersion10, HttpVersion11, web
from aiohttp.http_exceptions import HttpProcessingError

from hitl_core.errors import HitlError, SettingsError, safe_message

from ..health import PROBE_TIMEOUT, Probe, public_reason
from ..logs import ThrottledLog
from .connections import Connection, Connections
from .http_errors import HttpProtocol
from .problems import ApiProblem, to_response
from .requests import connection_of

#: How long requests in progress may take at shutdown, in seconds. A click is answered within 3 s.
DRAIN_TIMEOUT = 4.0
#: How long the rest of a body is read and dropped after an early answer, in seconds. Otherwise a client that
#: is still sending would not see the answer.
LINGER_TIMEOUT = 1.0
#: How many bytes of a body are buffered before it is read. This also limits how many chunks are read at once.
BODY_BUFFER = 32 * 1024
#: Of a request: whether its version of HTTP is one that the server speaks.
_KNOWS_VERSION = web.RequestKey("knows_version", bool)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RequestFactory = Callable[..., web.BaseRequest]


@asynccontextmanager
async def open_server(
    app: web.Application, host: str, port: int, max_connections: int | None = None
) -> AsyncGenerator[str, None]:
    """Serves the application while the block runs, and yields its URL. The limits are in this file and in
    `connections.py`; only tests set `max_connections`. Raises SettingsError.

    Compressed bodies are refused: aiohttp would decompress them on the event loop, even to drop them.
    """
    app.middlewares.insert(0, limit_request)
    runner = web.AppRunner(app, shutdown_timeout=DRAIN_TIMEOUT)
    await runner.setup()
    connections, manager = Connections(max_connections), runner.server
    assert manager is not None  # `setup` created it
    manager.request_factory = _plain_requests(manager.request_factory)
    watch = asyncio.create_task(connections.watch())
    loop, logger = asyncio.get_running_loop(), _make_logger()

    def connect() -> Connection:
        protocol = HttpProtocol(
            manager,
            loop=loop,
            access_log=cast(logging.Logger, None),  # None: no lines
            logger=logger,
            auto_decompress=False,
            lingering_time=LINGER_TIMEOUT,
            read_bufsize=BODY_BUFFER,
        )
        return Connection(connections, protocol)

    try:
        try:
            server = await loop.create_server(connect, host, port)
        except (OSError, UnicodeError) as error:  # UnicodeError: a name like "127.0..1"
            why = (error.strerror if isinstance(error, OSError) else "it is no host") or error
            raise SettingsError(
                f"HITL_HOST, HITL_PORT: can't listen on {host}:{port}: {why}."
            ) from error
        bound_host, bound_port = server.sockets[0].getsockname()[:2]
        try:
            yield f"http://{bound_host}:{bound_port}"
        finally:
            server.close()
    finally:
        await runner.cleanup()
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch


def _plain_requests(make_request: RequestFactory) -> RequestFactory:
    """Removes parts of a request that nobody needs, because aiohttp handles them before any middleware.

    - The host of `GET http://host/path`: some hosts take 50 ms, and others end the connection with an error
      in the log.
    - Another version than HTTP/1.0 and 1.1: its answer would have that version, which we don't speak.
    - An `Expect` that is not `100-continue`: its answer would repeat the header, or be an error in the log,
      and keep the connection.
    """

    def make(message: Any, *rest: Any) -> web.BaseRequest:
        if message.url.absolute:
            message = message._replace(url=message.url.relative())
        if "Expect" in message.headers and not _expects_body(message.headers.getall("Expect")):
            headers = message.headers.copy()
            del headers["Expect"]
            message = message._replace(headers=headers)
        is_known = message.version in (HttpVersion10, HttpVersion11)
        if not is_known:
            message = message._replace(version=HttpVersion11, should_close=True)
        request = make_request(message, *rest)
        request[_KNOWS_VERSION] = is_known
        return request

    return make


def _expects_body(expected: Sequence[str]) -> bool:
    return [text.lower() for text in expected] == ["100-continue"]


@web.middleware
async def limit_request(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Wraps every request: refuses compressed bodies, and keeps a connection open only if it is authenticated
    (see `connections.py`).
    """
    connection = connection_of(request)
    if connection is not None:
        connection.begin_request(request.content)
    try:
        try:
            response = _refusal(request) or await handler(request)
        except web.HTTPException as error:
            # Otherwise its traceback would keep the body in a reference cycle.
            response = web.Response(status=error.status, body=error.body, headers=error.headers)
        if connection is not None:
            connection.count_answer(response.content_length or 0)
            if not connection.keeps and not response.prepared:
                response.force_close()
        return response
    finally:
        if connection is not None:
            connection.finish_request()


def _refusal(request: web.Request) -> web.Response | None:
    if not request.get(_KNOWS_VERSION, True):
        detail = "The request is not valid HTTP: its version is not 1.0 or 1.1."
        return to_response(ApiProblem("bad_request", detail))
    for header, plain in (("Content-Encoding", "identity"), ("Transfer-Encoding", "chunked")):
        if header not in request.headers:
            continue
        words = ",".join(request.headers.getall(header)).lower().split(",")
        if any(word.strip() not in ("", plain) for word in words):
            detail = f"Send the body uncompressed, without {header}."
            return to_response(ApiProblem("unsupported_media_type", detail))
    return None


_log = logging.getLogger(__name__)
_unreadable_log = ThrottledLog(_log, "%d requests could not be read as HTTP; the newest: %s")


def _make_logger() -> logging.Logger:
    _log.addFilter(_filter_record)  # adding it twice has no effect
    # aiohttp logs unreadable requests at DEBUG; `_filter_record` counts them.
    _log.setLevel(logging.DEBUG)
    return _log


def _filter_record(record: logging.LogRecord) -> bool:
    """Requests that aiohttp can't read are only counted, because anybody may send them. Other errors are our
    own and are logged without the request's content.
    """
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, web.RequestPayloadError | HttpProcessingError | ConnectionError):
        error.__traceback__ = None  # a reference cycle that would keep the bytes for long
        _unreadable_log.warn(type(error).__name__)
        return False
    if record.levelno < logging.INFO:
        return False
    if error is not None:
        record.msg, record.args = f"{record.getMessage()}: {safe_message(error)}", ()
        record.exc_info = None
    return True


LEAVING = web.AppKey("leaving", asyncio.Event)


def make_app(ready: Probe, leaving: asyncio.Event) -> web.Application:
    """An application with `/healthz` and `/readyz`. `ready` raises HitlError while the bot can't work.

    After `leaving` is set, requests still work, but every connection is closed after its answer, so that a
    load balancer uses another bot.
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
