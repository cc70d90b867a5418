"""Bodies that the HTTP API refuses: what is no strict JSON, too large, packed, or of another type."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest

from bot.api.wire import bodies
from bot.api.wire.bodies import MAX_BODY
from bot.offload import MAX_INLINE_BODY
from hitl_core.store import RedisStore
from tests.api.client import Client, tool_call
from tests.support.cpu_time import cpu_limit


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


NO_JSON = {
    "empty": b"",
    "cut": b'{"thread_id": "t",',
    "a list": b"[]",
    "text": b'"x"',
    "null": b"null",
    "a key twice": b'{"thread_id":"t","thread_id":"u","calls":[]}',
    "a key twice in args": b'{"calls":[{"args":{"a":1,"a":2}}]}',
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "a number without end": b'{"a": 1e999}',
    "a long number": b'{"a": ' + b"1" * 5000 + b"}",
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "a mark of byte order": b"\xef\xbb\xbf{}",
    "endless brackets": b"[" * 20_000,
    "brackets without an end in sight": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "trailing words": b"{} {}",
    "a form": b"thread_id=t",
}


@pytest.mark.parametrize("body", NO_JSON.values(), ids=list(NO_JSON))
async def test_promise_10_what_is_no_strict_json_is_refused(client: Client, body: bytes):
    reply = await client.send("POST", "/v1/reviews", body, Content_Type="application/json")

    assert (reply.status, reply.code) == (400, "bad_json")
    assert reply.body["detail"].startswith(("The body is ", "The body must ", "The body nests "))


async def test_what_is_no_strict_json_is_named_with_its_place(client: Client):
    body = b'{"thread_id":"t","calls":[{"id":"c","name":"n","args":{"a":{"b":1,"b":2}}}]}'
    reply = await client.send("POST", "/v1/reviews", body, Content_Type="application/json")
    assert reply.body["detail"] == (
        "The body is not JSON: the key 'b' appears twice (at /calls/0/args/a)."
    )


async def test_arguments_nest_so_deep_and_no_deeper(client: Client, store: RedisStore):
    body = '{"thread_id":"t","calls":[{"id":"c1","name":"drop_table","args":%s}]}'
    reply = await client.send(
        "POST", "/v1/reviews", (body % deep(33)).encode(), Content_Type="application/json"
    )

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith("/calls/0/args: ")
    assert "32 levels" in reply.body["detail"]


async def test_a_body_that_is_too_large_is_not_read_to_its_end(client: Client):
    body = b" " * (MAX_BODY + 1)
    reply = await client.send("POST", "/v1/reviews", body, Content_Type="application/json")

    assert (reply.status, reply.code) == (413, "too_large")


async def test_a_body_that_trickles_in_is_not_waited_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    """Given a client that says a body's length and sends half of it; then it is told so,
    and let go."""
    monkeypatch.setattr("bot.web.requests.BODY_TIMEOUT", 0.2)
    address = urlsplit(client.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(
        f"POST /v1/reviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.token}\r\n"
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"thread_id":'.encode()
    )

    async with asyncio.timeout(30):
        answer = await reader.readuntil(b"}")
    writer.close()
    await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nConnection: close\r\n" in answer
    assert b'"code": "too_slow"' in answer


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "identity, gzip", "x"])
async def test_a_packed_body_is_refused(client: Client, coding: str):
    """Given a body that says that it is packed; then it is 415, whatever is in it."""
    packed = {"Content_Type": "application/json", "Content_Encoding": coding}
    for body in (gzip.compress(b"{}"), b"not packed"):
        reply = await client.send("POST", "/v1/reviews", body, **packed)
        assert (reply.status, reply.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""]
)
async def test_only_json_is_taken(client: Client, type: str):
    """Nor the types that a page of another origin may send without asking."""
    body = json.dumps({"thread_id": "t", "calls": [tool_call()]}).encode()
    reply = await client.send("POST", "/v1/reviews", body, Content_Type=type)

    assert (reply.status, reply.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize("many", [";", ';"', ';a="', ";a=b", "; ", ";a*=''"])
async def test_a_content_type_takes_no_time(client: Client, many: str):
    """Given a client that sends 8 KiB of parameters in one header; then they are not read."""
    given = f"Application/JSON ; charset=utf-8{many * (7_900 // len(many))}"
    with cpu_limit(0.06):
        reply = await client.send("POST", "/v1/reviews", b"[]", Content_Type=given)
    assert reply.code == "bad_json"


@pytest.mark.parametrize("given", ["", "text/json", "application/json5", "a;application/json"])
async def test_what_is_not_json_is_refused(client: Client, given: str):
    reply = await client.send("POST", "/v1/reviews", b"[]", Content_Type=given)
    assert reply.code == "unsupported_media_type"


def zeros(count: int) -> list[int]:
    return [0] * count


def asks(value: Any) -> dict[str, Any]:
    """As Agent Inbox does."""
    allowed = {f"allow_{what}": True for what in ("ignore", "respond", "edit", "accept")}
    return {"action_request": {"action": "ask", "args": {"a": value}}, "config": allowed}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"calls": [tool_call(f"c{n}", a=zeros(130_000)) for n in range(10)]}, "A body"),
        ({"calls": [tool_call(f"c{n}", a=zeros(3_000)) for n in range(10)]}, "/calls"),
        ({"calls": [tool_call(a=zeros(20_000))]}, "/calls"),
        ({"turn": "m1", "interrupt": zeros(20_000)}, "/interrupt"),
        ({"turn": "m1", "interrupt": json.dumps([asks(zeros(20_000))])}, "/interrupt"),
        ({"calls": [tool_call(a=zeros(10_000))], "context": {"a": zeros(10_000)}}, "A body"),
    ],
    ids=[
        "far too many",
        "of ten calls",
        "of one call",
        "of an interrupt",
        "of JSON text",
        "of all together",
    ],
)
async def test_a_turn_has_so_many_values_and_no_more(client: Client, body: Any, pointer: str):
    """Each would be looked at many times, while people's clicks wait."""
    reply = await client.post("/v1/reviews", {"thread_id": "t", **body})

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith(pointer)
    assert "20,000 JSON values" in reply.body["detail"]


async def test_a_large_body_is_decoded_beside_the_clicks(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    """Given a large body and a small one; then only the large one goes to a thread of its own."""
    where: list[bool] = []
    decode = bodies.decode

    def decode_later(text: str) -> dict[str, Any]:
        where.append(threading.current_thread() is threading.main_thread())
        return decode(text)

    monkeypatch.setattr(bodies, "decode", decode_later)
    for size in (10, MAX_INLINE_BODY):
        await client.post("/v1/reviews", {"unknown": "x" * size})

    assert where == [True, False]
