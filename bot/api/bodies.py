"""A request's body → one of our shapes, or a sentence that names what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, assert_never

from aiohttp import web
from pydantic import ValidationError

from bot.api.asked import Shape
from bot.api.problems import Problem
from bot.beside import read_beside
from bot.body import IN_TIME, BodyError, read_body
from hitl_core.errors import InvalidToolCall
from hitl_core.gate.request import more_than
from hitl_core.model import decode
from hitl_core.model.amount import has_more_values

#: The most that a request's body may take, in bytes. Room for sixteen calls of the largest arguments.
MAX_BODY = 4 * 1024 * 1024
#: The most JSON values in one body: who clicks waits while they are judged and written.
MAX_VALUES = 20_000

S = TypeVar("S", bound=Shape)


async def read(request: web.Request, shape: type[S], *, optional: bool = False) -> S:
    """Raises Problem. An `optional` body that is missing is read as an empty object."""
    return parse(shape, await json_of(request, optional=optional))


async def json_of(request: web.Request, *, optional: bool = False) -> dict[str, Any]:
    """A body, whatever is in it. Raises Problem."""
    body = await _bytes(request)
    if not body and optional:
        return {}
    if request.content_type != "application/json":
        raise Problem(
            "unsupported_media_type", "Send JSON, with the header Content-Type: application/json."
        )
    return await read_beside(body, _object)


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
    """RFC 6901; of the whole body it is empty. Pydantic's mark of a key that is wrong is left out."""
    loc = loc[:-1] if loc[-1:] == ("[key]",) else loc
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
    try:
        return await read_body(request, MAX_BODY)
    except BodyError as error:
        match error.code:
            case "too_large":
                told = f"A body may have {MAX_BODY:,} bytes at most."
                raise Problem("too_large", told) from None
            case "too_slow":
                told = f"The body took longer than {IN_TIME:g} seconds. Send it again."
                headers = {"Connection": "close"}
                raise Problem("too_slow", told, headers=headers) from None
            case "broken":
                told = "The body did not arrive as its headers say."
                raise Problem("bad_json", told) from None
            case _:
                assert_never(error.code)


def _object(body: bytes) -> dict[str, Any]:
    """By the same strict decoder as everything that comes from outside: what is stored is what was meant."""
    too_many = f"A body may have {MAX_VALUES:,} JSON values at most; this has more."
    if has_more_values(body, 2 * MAX_VALUES):  # so many are not even parsed
        raise Problem("invalid", too_many, pointer="")
    try:
        value = decode(body.decode())
    except UnicodeDecodeError as error:
        raise Problem("bad_json", "The body is not UTF-8 text.") from error
    except InvalidToolCall as error:
        said = str(error).removeprefix("The arguments")
        raise Problem("bad_json", f"The body{said.replace(' are ', ' is ', 1)}") from error
    if more_than(MAX_VALUES, value):
        where = [key for key, each in value.items() if more_than(MAX_VALUES, each)][:1]
        raise Problem("invalid", too_many, pointer=pointer(where))
    return value
