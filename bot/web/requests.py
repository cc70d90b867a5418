"""One request: which agent sent it, and its body, read within limits of size, time and memory."""

from __future__ import annotations

import asyncio
from binascii import a2b_qp
from typing import Literal

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from .connections import Connection

#: How long a body may take to arrive, in seconds. Together with `server.LINGER_TIMEOUT` less than 10.
BODY_TIMEOUT = 8.0


class BodyError(Exception):
    """The body can't be read completely. Nothing of it is kept."""

    def __init__(self, code: Literal["too_large", "too_slow", "broken"]) -> None:
        super().__init__(code)
        self.code: Literal["too_large", "too_slow", "broken"] = code


async def read_body(request: web.Request, max_bytes: int, *, keep: bool = False) -> bytes:
    """The body, at most `max_bytes`. With `keep`, its bytes count as still arriving until `release_body`: a
    client that waits for its turn must not hold more memory than one that sends. Raises BodyError.
    """
    if (request.content_length or 0) > max_bytes:
        raise BodyError("too_large")
    connection, parts, size, kept = connection_of(request), list[bytes](), 0, 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            while part := await request.content.readany():
                size += len(part)
                if size > max_bytes:
                    raise BodyError("too_large")
                parts.append(part)
                if connection is not None:
                    connection.set_buffered(size)
        kept = size if keep else 0
        return b"".join(parts)
    except TimeoutError:
        raise BodyError("too_slow") from None
    except (web.RequestPayloadError, HttpProcessingError, ConnectionError):
        raise BodyError("broken") from None
    finally:
        parts.clear()  # aiohttp keeps the error, and so this frame, in a reference cycle
        if connection is not None:
            connection.set_buffered(kept)


def release_body(request: web.Request) -> None:
    """A kept body is handled from now on, so its bytes no longer count as arriving."""
    if (connection := connection_of(request)) is not None:
        connection.set_buffered(0)


def connection_of(request: web.BaseRequest) -> Connection | None:
    """The request's connection; None if the client has disconnected, or if the server is not ours."""
    protocol = request.transport.get_protocol() if request.transport else None
    return protocol if isinstance(protocol, Connection) else None


def mark_authenticated(request: web.BaseRequest) -> None:
    """This request is authenticated."""
    if (connection := connection_of(request)) is not None:
        connection.mark_authenticated()


def admit(request: web.BaseRequest, token: str, *, waits: bool = False) -> bool:
    """Marks an agent's request as authenticated. Returns False if too many requests of this token or of all
    agents are in progress: then it must be refused. `waits`: it is about to wait for people.
    """
    mark_authenticated(request)
    connection = connection_of(request)
    return connection is None or connection.admit(token, waits=waits)


#: From the signs of a form to those of quoted-printable.
_SIGNS = bytes.maketrans(b"+%", b" =")


def read_form(text: str, most: int) -> dict[str, str]:
    """The fields of a body (application/x-www-form-urlencoded) by name; the last one wins if a name is
    repeated. Raises ValueError for more than `most`, and for a "%" that escapes nothing.
    """
    if text.count("&") >= most:
        raise ValueError(f"more than {most} fields")
    pairs = (each.partition("=") for each in text.split("&") if each)
    return {_decode(name): _decode(value) for name, _, value in pairs}


def _decode(text: str) -> str:
    """Decode the escapes with the decoder for quoted-printable (RFC 2045), which has the same escapes with
    another sign. It takes 5 ms for 1 MiB of escapes; `urllib` would hold Python's lock for 150 ms.
    """
    quoted = text.encode().replace(b"=", b"%3D").translate(_SIGNS)
    decoded = a2b_qp(quoted)
    # Each escape was three bytes and became one. Other text is unchanged, except before the end of a line.
    shorter = len(quoted) - len(decoded)
    if shorter != 2 * quoted.count(b"=") or any(
        sign in quoted and b"=" + sign in quoted for sign in (b"\n", b"\r")
    ):
        raise ValueError("a broken escape")
    return decoded.decode(errors="replace")
