"""Reads a request's body as a request model. A wrong body becomes a problem that names what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, assert_never

from aiohttp import web
from pydantic import ValidationError

from hitl_core.errors import InvalidToolCall
from hitl_core.model import (
    decode,
    parsed_has_more_values,
    to_pointer,
    unparsed_has_more_values,
)

from ...offload import offload_parsing
from ...web import BODY_TIMEOUT, ApiProblem, BodyError, read_body
from .requests import RequestModel

#: The largest body, in bytes: enough for sixteen calls with the largest arguments.
MAX_BODY = 4 * 1024 * 1024
#: The most JSON values in one body, because clicks wait while they are judged and stored.
MAX_VALUES = 20_000

#: Pydantic's words for a wrong value are Python's: a client in another language has no "dictionary".
_TEXTS = {
    "extra_forbidden": "This key is not allowed here",
    "dict_type": "This must be an object",
    "model_type": "This must be an object",
    "list_type": "This must be a list",
    "tuple_type": "This must be a list",
    "string_type": "This must be text",
    "string_unicode": "This has half a surrogate pair, which is not valid text",
    "float_type": "This must be a number",
    "float_parsing": "This must be a number",
    "int_parsing": "This must be a whole number",
}

S = TypeVar("S", bound=RequestModel)

_BODY = web.RequestKey("body", bytes)


async def read_model(request: web.Request, shape: type[S], *, optional: bool = False) -> S:
    """Raises ApiProblem. A missing `optional` body counts as an empty object."""
    return parse_model(shape, await read_json(request, optional=optional))


async def receive(request: web.Request) -> None:
    """Read the body, for `read_json`. Its bytes count as arriving until `release_body`. Raises ApiProblem."""
    request[_BODY] = await _read_bytes(request)


async def read_json(request: web.Request, *, optional: bool = False) -> dict[str, Any]:
    """The received body as a JSON object. Raises ApiProblem."""
    body = request[_BODY]
    if not body and optional:
        return {}
    if not _is_json(request):
        raise ApiProblem(
            "unsupported_media_type", "Send JSON with the header Content-Type: application/json."
        )
    return await offload_parsing(body, _parse_object)


def _is_json(request: web.Request) -> bool:
    """Whether the body is JSON. It doesn't use `request.content_type`, which holds the event loop for 400 ms
    if there are 8 KiB of semicolons.
    """
    values = request.headers.getall("Content-Type", ())
    return len(values) == 1 and values[0].partition(";")[0].strip().lower() == "application/json"


def parse_query(request: web.Request, shape: type[S]) -> S:
    """Raises ApiProblem with the name of the first wrong parameter."""
    params = dict(request.query)
    for name in params:
        if len(request.query.getall(name)) > 1:
            raise ApiProblem("invalid", f"{name}: This parameter is repeated.")
    try:
        return shape.model_validate(params)
    except ValidationError as error:
        where, text = _describe(error)
        raise ApiProblem("invalid", f"{where[0]}: {text}.") from None


def parse_model(shape: type[S], value: object) -> S:
    """Raises ApiProblem with the pointer of the first wrong value."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        where, text = _describe(error)
        raise ApiProblem("invalid", f"{text}.", pointer=json_pointer(where)) from None


def json_pointer(loc: Sequence[str | int]) -> str:
    """A location as a JSON Pointer, "" for the whole body, without pydantic's mark of a wrong key."""
    return to_pointer(loc[:-1] if loc[-1:] == ("[key]",) else loc)


def _describe(error: ValidationError) -> tuple[Sequence[str | int], str]:
    """Where the first wrong value is, and what is wrong. A key that is missing may have a typing error: an
    unknown key beside it is named too.
    """
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    where, kind = errors[0]["loc"], errors[0]["type"]
    if kind != "missing":
        return where, _TEXTS.get(kind, errors[0]["msg"])
    unknown = (e["loc"] for e in errors if e["type"] == "extra_forbidden")
    beside = next((loc[-1] for loc in unknown if loc[:-1] == where[:-1]), None)
    return where, "This is missing" + (f", and {beside!r:.80} is not a key here" if beside else "")


async def _read_bytes(request: web.Request) -> bytes:
    try:
        return await read_body(request, MAX_BODY, keep=True)
    except BodyError as error:
        match error.code:
            case "too_large":
                detail = f"A body may have at most {MAX_BODY:,} bytes."
                raise ApiProblem("too_large", detail) from None
            case "too_slow":
                detail = f"The body took longer than {BODY_TIMEOUT:g} seconds. Send it again."
                headers = {"Connection": "close"}
                raise ApiProblem("too_slow", detail, headers=headers) from None
            case "broken":
                detail = "The body is incomplete, or does not match its headers."
                raise ApiProblem("bad_json", detail) from None
            case _:
                assert_never(error.code)


def _parse_object(body: bytes) -> dict[str, Any]:
    """The body as an object, by the strict decoder of all foreign JSON: nothing ambiguous is stored."""
    too_many = f"A body may have at most {MAX_VALUES:,} JSON values; this one has more."
    if unparsed_has_more_values(body, 2 * MAX_VALUES):  # too many to be parsed
        raise ApiProblem("invalid", too_many, pointer="")
    try:
        value = decode(body.decode())
    except UnicodeDecodeError as error:
        raise ApiProblem("bad_json", "The body is not UTF-8 text.") from error
    except InvalidToolCall as error:
        verb, _, rest = str(error).removeprefix("The arguments ").partition(" ")
        verb = {"are": "is", "have": "has", "nest": "nests"}.get(verb, verb)
        raise ApiProblem("bad_json", f"The body {verb} {rest}") from error
    if parsed_has_more_values(value, MAX_VALUES):
        where = [key for key, each in value.items() if parsed_has_more_values(each, MAX_VALUES)][:1]
        raise ApiProblem("invalid", too_many, pointer=json_pointer(where))
    return value
