"""The HTTP server: what it takes from anybody, before a handler is asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from hitl_core.errors import SettingsError, safe_message

from .connections import Connection, Connections, connection_of
from .logs import ThrottledLog
from .problems import ApiProblem, to_response

#: How long requests that are under way may take at the end, in seconds. A click has its answer within 3.
DRAIN_TIMEOUT = 4.0
#: How long what follows an early answer is read and dropped, in seconds: a client that is still sending its
#: body would not see the answer otherwise.
LINGER_TIMEOUT = 1.0
#: Of a body, while nobody reads it. It also bounds how many chunks are taken at once.
BODY_BUFFER = 32 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def open_server(
    app: web.Application, host: str, port: int, max_connections: int | None = None
) -> AsyncGenerator[str, None]:
    """The address, while the application is served, within the limits that are declared here and in
    `bot.web.connections`. `most` connections; only tests need another number. Raises SettingsError.

    aiohttp would unpack a compressed body on the event loop, also to drop it: here nothing is unpacked.
    """
    app.middlewares.insert(0, limit_request)
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_make_logger(),
        shutdown_timeout=DRAIN_TIMEOUT,
        auto_decompress=False,
        lingering_time=LINGER_TIMEOUT,
        read_bufsize=BODY_BUFFER,
    )
    await runner.setup()
    connections, make_protocol = Connections(max_connections), runner.server
    assert make_protocol is not None  # it is set up
    watch = asyncio.create_task(connections.watch())
    try:
        try:
            loop = asyncio.get_running_loop()
            server = await loop.create_server(
                lambda: Connection(connections, make_protocol()), host, port
            )
        except OSError as error:
            why = error.strerror or error
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


@web.middleware
async def limit_request(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Around every request. Nothing that is packed is taken; and a connection is kept only for who has shown
    who it is: see `bot.web.connections`.
    """
    connection = connection_of(request)
    if connection is not None:
        connection.begin_request()
    try:
        try:
            response = _refusal(request) or await handler(request)
        except web.HTTPException as error:  # which would keep its frames, and so a body, in a cycle
            response = web.Response(status=error.status, body=error.body, headers=error.headers)
        if connection is not None and not connection.keeps and not response.prepared:
            response.force_close()
        return response
    finally:
        if connection is not None:
            connection.finish_request()


def _refusal(request: web.Request) -> web.Response | None:
    for header, plain in (("Content-Encoding", "identity"), ("Transfer-Encoding", "chunked")):
        words = ",".join(request.headers.getall(header, ())).lower().split(",")
        if any(word.strip() not in ("", plain) for word in words):
            detail = f"Send the body as it is, without {header}."
            return to_response(ApiProblem("unsupported_media_type", detail))
    return None


_log = logging.getLogger(__name__)
_unreadable_log = ThrottledLog(_log, "%d requests could not be read as HTTP; the newest: %s")


def _make_logger() -> logging.Logger:
    _log.addFilter(_filter_record)  # one that is there already is not added again
    _log.setLevel(logging.DEBUG)  # as what is no HTTP at all is told: else `_ours` would not see it
    return _log


def _filter_record(record: logging.LogRecord) -> bool:
    """Requests that aiohttp can't read are counted: anybody may send them. All else is a fault of ours, which
    is told without what stood in the request.
    """
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, web.RequestPayloadError | HttpProcessingError | ConnectionError):
        error.__traceback__ = None  # it leads back to the error, so the bytes would stay for long
        _unreadable_log.warn(type(error).__name__)
        return False
    if record.levelno < logging.INFO:
        return False
    if error is not None:
        record.msg, record.args = f"{record.getMessage()}: {safe_message(error)}", ()
        record.exc_info = None
    return True
