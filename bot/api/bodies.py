"""A request's body → one of our shapes, or a sentence that names what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from pydantic import ValidationError

from bot.api.problems import Problem
from bot.api.shapes import Shape
from hitl_core.errors import InvalidToolCall
from hitl_core.model import decode

#: The most that a request's body may take, in bytes. Room for sixteen calls of the largest arguments.
MAX_BODY = 4 * 1024 * 1024

S = TypeVar("S", bound=Shape)


async def read(request: web.Request, shape: type[S], *, optional: bool = False) -> S:
    """Raises Problem. An `optional` body that is missing is read as an empty object."""
    body = await _bytes(request)
    if not body and optional:
        return parse(shape, {})
    if request.content_type != "application/json":
        raise Problem(
            "unsupported_media_type", "Send JSON, with the header Content-Type: application/json."
        )
    return parse(shape, _object(body))


def query(request: web.Request, shape: type[S]) -> S:
    """Raises Problem with the name of the first thing that is wrong."""
    given = dict(request.query)
    for name in given:
        if len(request.query.getall(name)) > 1:
            raise Problem("invalid", f"{name}: This is given twice.")
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        first = _first(error)
        raise Problem("invalid", f"{first['loc'][0]}: {_said(first)}.") from None


def parse(shape: type[S], value: object) -> S:
    """Raises Problem with the pointer of the first thing that is wrong."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = _first(error)
        raise Problem("invalid", f"{_said(first)}.", pointer=pointer(first["loc"])) from None


def pointer(loc: Sequence[str | int]) -> str:
    """RFC 6901; of the whole body it is empty."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in loc)


def _first(error: ValidationError) -> Any:
    return error.errors(include_url=False, include_context=False, include_input=False)[0]


def _said(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "There is no such key here"
    if error["type"] == "missing":
        return "This is missing"
    return str(error["msg"])


async def _bytes(request: web.Request) -> bytes:
    """Read here, since the application's own limit is another one. Also of what was sent compressed."""
    parts: list[bytes] = []
    size = 0
    try:
        while part := await request.content.readany():
            size += len(part)
            if size > MAX_BODY:
                raise Problem("too_large", f"A body may have {MAX_BODY:,} bytes at most.")
            parts.append(part)
    except (web.RequestPayloadError, HttpProcessingError, ConnectionError) as error:
        raise Problem("bad_json", "The body did not arrive as its headers say.") from error
    return b"".join(parts)


def _object(body: bytes) -> object:
    """By the same strict decoder as everything that comes from outside: what is stored is what was meant."""
    try:
        return decode(body.decode())
    except UnicodeDecodeError as error:
        raise Problem("bad_json", "The body is not UTF-8 text.") from error
    except InvalidToolCall as error:
        said = str(error).removeprefix("The arguments")
        raise Problem("bad_json", f"The body{said.replace(' are ', ' is ', 1)}") from error
