"""Reads a request's body, within limits of size and time, and of the memory of all bodies together."""

from __future__ import annotations

import asyncio
from typing import Literal

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from .authentication import connection_of

#: How long a body may take to arrive, in seconds. Together with `server.LINGER_TIMEOUT` less than 10.
BODY_TIMEOUT = 8.0


class BodyError(Exception):
    """The body can't be read completely. Nothing of it is kept."""

    def __init__(self, code: Literal["too_large", "too_slow", "broken"]) -> None:
        super().__init__(code)
        self.code: Literal["too_large", "too_slow", "broken"] = code


async def read_body(request: web.Request, max_bytes: int) -> bytes:
    """The body, at most `max_bytes`. Raises BodyError."""
    if (request.content_length or 0) > max_bytes:
        raise BodyError("too_large")
    connection, parts, size = connection_of(request), list[bytes](), 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            while part := await request.content.readany():
                size += len(part)
                if size > max_bytes:
                    raise BodyError("too_large")
                parts.append(part)
                if connection is not None:
                    connection.set_buffered(size)
        return b"".join(parts)
    except TimeoutError:
        raise BodyError("too_slow") from None
    except (web.RequestPayloadError, HttpProcessingError, ConnectionError):
        raise BodyError("broken") from None
    finally:
        parts.clear()  # aiohttp keeps the error, and so this frame, in a reference cycle
        if connection is not None:
            connection.set_buffered(0)
