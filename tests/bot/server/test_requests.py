"""What the server reads of a request: no compressed bodies, within limits of time and size."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import logging
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import compression_utils

from tests.bot.server.wire import HEAD, SHORT, Serve, Wire
from tests.support.cpu_time import cpu_limit

BOMB = gzip.compress(b"\0" * 50_000_000)


PACKED = [
    [("Content-Encoding", "gzip")],
    [("Content-Encoding", "GZip")],
    [("Content-Encoding", "deflate")],
    [("Content-Encoding", "br")],
    [("Content-Encoding", "zstd")],
    [("Content-Encoding", "identity"), ("Content-Encoding", "gzip")],
    [("Content-Encoding", "gzip"), ("Content-Encoding", "identity")],
    [("Content-Encoding", "identity, gzip")],
    [("Content-Encoding", "gzip"), ("Connection", "Upgrade"), ("Upgrade", "websocket")],
    [("Content-Encoding", "gzip"), ("Content-Type", "multipart/form-data; boundary=x")],
]


@pytest.mark.parametrize("headers", PACKED, ids=lambda headers: "; ".join(map(": ".join, headers)))
async def test_nothing_is_ever_unpacked(
    serve: Serve, headers: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """security H3, slack-clients 1, T72: given a small body that unpacks to a large one, to any path and by
    any method, with its length or in chunks; then it is 415, also where there is nothing; and not a byte of
    it is unpacked, not even to drop it."""
    unpacked: list[str] = []
    for unpacker in ("ZLibDecompressor", "BrotliDecompressor", "ZSTDDecompressor"):
        monkeypatch.setattr(
            getattr(compression_utils, unpacker),
            "decompress_sync",
            lambda *_, **__: unpacked.append("") or b"",
        )

    async def chunks() -> AsyncIterator[bytes]:
        yield BOMB

    async with serve() as url, aiohttp.ClientSession(auto_decompress=False) as session:
        for method, path in [("POST", "/take"), ("POST", "/nowhere"), ("PUT", "/take"), ("GET", "/fine"),
                             ("DELETE", "/fine"), ("OPTIONS", "/fine")]:  # fmt: skip
            for data in (BOMB, chunks()):
                async with session.request(
                    method, url + path, data=data, headers=headers
                ) as answer:
                    assert answer.status == 415, (method, path)
    assert unpacked == []


async def test_a_body_as_it_is_may_say_so(serve: Serve) -> None:
    async with serve() as url, aiohttp.ClientSession() as session:
        plain = {"Content-Encoding": "Identity"}
        async with session.post(f"{url}/take", data=b"x" * 1000, headers=plain) as answer:
            assert (answer.status, await answer.text()) == (200, "1000")


@pytest.mark.parametrize("text", [b"", b"G", b"POST /take HT", HEAD[:-2], b"\r\n"])
async def test_half_a_head_is_not_waited_for(serve: Serve, hasty: None, text: bytes) -> None:
    """security M4, T72: given a client that sends nothing, or half a head; then the server hangs up."""
    async with serve() as url:
        wire = await Wire.to(url, text)
        assert await wire.rest() == b""


@pytest.mark.parametrize("start", [b"GET /fine HTTP/1.1\r\nHost: x\r\nX-A: ", HEAD])
async def test_a_slow_drip_has_a_limit_in_all(serve: Serve, hasty: None, start: bytes) -> None:
    """security M4, T72: given a client that sends a byte now and then, of its head or of its body; then it
    gets no more time."""
    async with serve() as url:
        wire = await Wire.to(url, start)

        async def drip() -> None:
            while True:
                wire.writer.write(b"a")
                await asyncio.sleep(SHORT / 10)

        dripping = asyncio.create_task(drip())
        answer = await wire.rest()
        dripping.cancel()
    assert b"200" not in answer


async def test_half_a_body_is_told_and_let_go(serve: Serve, hasty: None) -> None:
    """security M4, T72: given a client that sends half of its body; then it is told so, and its connection is
    closed."""
    async with serve() as url:
        wire = await Wire.to(url, HEAD + b"x" * 500)
        answer = await wire.rest()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b"too_slow")


@pytest.mark.parametrize(
    "lines",
    [
        [b"X-A: " + b"a" * 20_000],
        [b"X-%d: a" % number for number in range(1000)],
        [b"X-%d: " % number + b"a" * 8000 for number in range(100)],
        [b"Cookie: " + b"a=b; " * 30_000],
    ],
    ids=["a long one", "many", "many long ones", "a cookie"],
)
async def test_headers_have_a_limit(serve: Serve, lines: list[bytes]) -> None:
    """T72: given headers that are too long, too many, or take too much room; then the answer is no 200 and no
    500, and the connection ends."""
    async with serve() as url:
        head = b"\r\n".join([b"GET /fine HTTP/1.1", b"Host: x", *lines, b"", b""])
        answer = await (await Wire.to(url, head)).rest()
    assert answer == b"" or answer.startswith(b"HTTP/1.0 400 ")


@pytest.mark.parametrize(
    "message",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /fine HTTP/1.1\r\n\r\n",
        b"GET /fine HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"GET /fine HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /take HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST /take HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n" + b"\0" * 100_000,
        b"GET /fine HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + b"\0" * 99,
        b"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /take HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Encoding: gzip\r\n\r\n",
        b"POST /take HTTP/1.1\r\nHost: x\r\nExpect: what\r\nContent-Length: 5\r\n\r\n",
    ],
)  # fmt: skip
async def test_what_is_no_request_ends(
    serve: Serve, hasty: None, message: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """T72, slack-clients 8: given bytes that are no request, or one that we don't take; then the connection
    ends without a 5xx, and the log has no traceback, no line per request, and nothing of what was sent."""
    caplog.set_level(logging.DEBUG)
    async with serve() as url:
        for _ in range(3):
            answer = await (await Wire.to(url, message)).rest()
            assert b"HTTP/1.1 5" not in answer
            assert b"HTTP/1.0 5" not in answer
    lines = [record for record in caplog.records if record.name.startswith("bot")]
    assert len(lines) <= 1
    assert all(record.exc_info is None for record in lines)
    assert "%s" not in "".join(record.getMessage() for record in lines)


SECRET = b"Authorization: Bearer s3cret\r\n"


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (
            b"POST /take HTTP/1.1\r\nHost: x\r\n" + SECRET + b"Content-Type: a\r\nContent-Type: b\r\n\r\n",
            "Duplicate 'Content-Type' header found",
        ),
        (b"GET /fine HTTP/1.1\r\n" + SECRET + b"\r\n", "Missing 'Host' header in request"),
        (b"GET /fine HTTP/1.1\nHost: x\n" + SECRET + b"\n", "its first line can't be read"),
        (b"GET http://[::1/s3cret HTTP/1.1\r\nHost: x\r\n\r\n", "its first line can't be read"),
        (
            b"GET /fine HTTP/1.1\r\nHost: x\r\nX: s3cret" + b"x" * 9000 + b"\r\n\r\n",
            "Got more than 8190 bytes",
        ),
        (b"GET /fine HTTP/1.1\r\nHost: x\r\nX: s3cret\x00\r\n\r\n", "Invalid header value char"),
    ],
)  # fmt: skip
async def test_promise_10_what_is_not_http_is_refused_as_a_problem(
    serve: Serve, message: bytes, why: str
) -> None:
    """The refusal is JSON, as all others, says what is wrong, and repeats nothing that was sent."""
    async with serve() as url:
        answer = await (await Wire.to(url, message)).rest()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 400 ")
    assert b"Content-Type: application/problem+json" in head
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (400, "bad_request")
    assert problem["detail"].startswith(f"The request is not valid HTTP: {why}")
    assert problem["detail"].endswith(".")
    assert b"s3cret" not in answer


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("0.9", "HTTP/1.1 400 "),
        ("2.0", "HTTP/1.1 400 "),
        ("1.0", "HTTP/1.0 200 "),
        ("1.1", "HTTP/1.1 200 "),
    ],
)
async def test_every_answer_is_in_a_version_of_http_that_the_server_speaks(
    serve: Serve, version: str, status: str
) -> None:
    message = f"GET /fine HTTP/{version}\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    async with serve() as url:
        answer = (await (await Wire.to(url, message)).rest()).decode()
    assert answer.startswith(status)
    assert answer.endswith("fine") == ("200" in status)
    assert ("its version is not 1.0 or 1.1" in answer) == ("400" in status)


@pytest.mark.parametrize(
    "host",
    [
        "xn--zzzzzzzzz",  # these are no names in punycode
        "xn--a..xn--",
        "xn--" + "zca" * 2600,
        ".".join(["xn--" + "a" * 55] * 120),
        "a:99999",
        "a@b@c",
        "[::1%25x]",
    ],
)
async def test_the_host_in_a_request_line_is_not_read(
    serve: Serve, host: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Anybody may send it: then it takes no time, and leaves no line in the log, of asyncio's neither."""
    caplog.set_level(logging.INFO)
    message = f"GET http://{host}/fine HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    async with serve() as url:
        with cpu_limit(0.04):
            answer = await (await Wire.to(url, message)).rest()
        if not answer.startswith(b"HTTP/1.0 400 "):
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.endswith(b"fine")
    gc.collect()  # asyncio logs an error that nobody read when its task is deleted
    await asyncio.sleep(0)
    assert [one.getMessage() for one in caplog.records if "HTTP; the newest" not in one.msg] == []


@pytest.mark.parametrize("expected", [b"x", b"\xe9" * 4000, b"100-continue, x", b"100-continue"])
async def test_no_expectation_passes_the_limits(
    serve: Serve, expected: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Given an `Expect` header, which aiohttp answers before any middleware; then the request is bounded as
    any other: a stranger's connection ends with its answer, and no line in the log is theirs."""
    caplog.set_level(logging.INFO)
    head = b" HTTP/1.1\r\nHost: x\r\nExpect: " + expected + b"\r\n\r\n"
    async with serve() as url:
        for line in (b"GET /fine", b"GET /nowhere"):
            answer = await (await Wire.to(url, line + head)).rest()
            assert b"Connection: close" in answer
            assert b"\xe9" not in answer
    assert [one.getMessage() for one in caplog.records if "HTTP; the newest" not in one.msg] == []
