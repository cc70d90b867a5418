"""The limits of the HTTP server: no compressed bodies, a maximum size, a maximum time."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import logging
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from io import BytesIO
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import compression_utils, web
from aiohttp.streams import EMPTY_PAYLOAD

from bot.web import connection_limits, connections, memory, requests
from bot.web.connection_limits import SlowReaders
from bot.web.connections import Connection, Connections
from bot.web.requests import BodyError, mark_authenticated, read_body
from bot.web.server import open_server
from tests.support.cpu_time import cpu_limit
from tests.support.waiting import wait_until

MOST = 1024 * 1024
#: In place of 5 and 10 s. Waits in tests have much more time than this.
SHORT = 0.3
PATIENCE = 20.0

Serve = Callable[..., AbstractAsyncContextManager[str]]


class Release(asyncio.Event):
    """What polls wait for; `asked` is how many there are."""

    asked = 0


def application(release: Release) -> web.Application:
    async def take(request: web.Request) -> web.Response:
        try:
            return web.Response(text=str(len(await read_body(request, MOST))))
        except BodyError as error:
            return web.Response(status=400, text=error.code)

    async def known_take(request: web.Request) -> web.Response:
        mark_authenticated(request)
        return await take(request)

    async def poll(request: web.Request) -> web.Response:
        """As the HTTP API does: a known client waits."""
        mark_authenticated(request)
        release.asked += 1
        await release.wait()
        return web.Response(text="now")

    async def fine(_: web.Request) -> web.Response:
        return web.Response(text="fine")

    async def large(request: web.Request) -> web.Response:
        """An answer that no socket's buffer holds, for a client that is known."""
        mark_authenticated(request)
        return web.Response(body=b"x" * LARGE)

    app = web.Application()
    app.router.add_get("/large", large)
    app.router.add_post("/take", take)
    app.router.add_post("/known-take", known_take)
    app.router.add_get("/poll", poll)
    app.router.add_route("*", "/fine", fine)
    return app


@pytest.fixture
def release() -> Release:
    return Release()


@pytest.fixture
def serve(release: Release) -> Serve:
    @asynccontextmanager
    async def start(most: int | None = None) -> AsyncIterator[str]:
        async with open_server(application(release), "127.0.0.1", 0, most) as url:
            yield url

    return start


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with short time limits."""
    monkeypatch.setattr(connections, "HEAD_TIMEOUT", SHORT)
    monkeypatch.setattr(connections, "WATCH_INTERVAL", SHORT / 5)
    monkeypatch.setattr(requests, "BODY_TIMEOUT", SHORT)


class Wire:
    """A client that sends any bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, url: str, said: bytes = b"") -> Wire:
        where = urlsplit(url)
        wire = cls(*await asyncio.open_connection(where.hostname, where.port))
        wire.writer.write(said)
        return wire

    async def rest(self) -> bytes:
        """All bytes until the server closes the connection, which most tests here expect."""
        answer = b""
        async with asyncio.timeout(PATIENCE):
            try:
                while part := await self.reader.read(65536):
                    answer += part
            except ConnectionError:  # it closed the connection before it had read everything
                pass
            finally:
                await self.close()
        return answer

    async def is_open(self) -> bool:
        """Whether it answers one more request."""
        self.writer.write(b"GET /fine HTTP/1.1\r\nHost: x\r\n\r\n")
        return b"fine" in await self.rest()

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


LARGE = 24 * 1024 * 1024
GET_LARGE = b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
HEAD = b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
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


async def test_a_stranger_is_let_go_after_each_answer(serve: Serve) -> None:
    """Given a request of an unknown sender; then its connection ends with the answer."""
    async with serve() as url:
        for line in (b"GET /fine", b"GET /nowhere", b"DELETE /take"):
            wire = await Wire.to(url, line + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"Connection: close" in await wire.rest()


async def test_a_known_client_may_wait_and_keeps_its_connection(
    serve: Serve, hasty: None, release: Release
) -> None:
    """Given a long poll of somebody known, far beyond a stranger's time; then it is answered, and its
    connection serves another request."""
    async with serve() as url:
        wire = await Wire.to(url, b"GET /poll HTTP/1.1\r\nHost: x\r\n\r\n")
        stranger = await Wire.to(url)
        assert await stranger.rest() == b""  # a stranger's time is over
        release.set()
        async with asyncio.timeout(PATIENCE):
            assert (await wire.reader.readuntil(b"now")).startswith(b"HTTP/1.1 200 ")
        assert await wire.is_open()


POLL = b"GET /poll HTTP/1.1\r\nHost: x\r\n\r\n"


async def test_each_head_of_a_known_client_has_the_limits(
    serve: Serve, hasty: None, release: Release
) -> None:
    """Given a kept connection of somebody known; then half of its next head is not waited for, and one that
    is too long is not kept."""
    release.set()
    async with serve() as url:
        for head in (b"GET /fine HT", b"GET /fine HTTP/1.1\r\n" + b"X-A: aaaaaaaa\r\n" * 8000):
            wire = await Wire.to(url, POLL)
            async with asyncio.timeout(PATIENCE):
                await wire.reader.readuntil(b"now")
            wire.writer.write(head)
            assert b"fine" not in await wire.rest()


async def test_a_head_sent_before_the_answer_ends_the_connection(
    serve: Serve, hasty: None, release: Release
) -> None:
    """Given a known client that sends half of its next head while it waits; then its answer is the last."""
    async with serve() as url:
        wire = await Wire.to(url, POLL)
        await wait_until("it waits", lambda: release.asked == 1)
        wire.writer.write(b"GET /fine HT")
        await wire.writer.drain()
        stranger = await Wire.to(url)
        assert await stranger.rest() == b""  # so the server has read the half head
        release.set()
        answer = await wire.rest()
    assert b"Connection: close" in answer
    assert answer.endswith(b"now")


async def test_a_body_that_nobody_reads_is_no_head(serve: Serve, hasty: None) -> None:
    """Given a large body for a request that is answered at once; then its sender gets the answer."""
    async with serve() as url:
        start = b"POST /fine HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
        wire = await Wire.to(url, start)
        wire.writer.write(b"x" * 1_000_000)
        assert b"fine" in await wire.rest()


async def test_the_oldest_stranger_makes_room(serve: Serve, release: Release) -> None:
    """security M4: given as many connections as there may be; when more come, then the oldest strangers go
    first, and never a request of somebody known: where there are only those, the newcomer goes."""
    async with serve(3) as url:
        poll = await Wire.to(url, b"GET /poll HTTP/1.1\r\nHost: x\r\n\r\n")
        await wait_until("it is known", lambda: release.asked == 1)
        old, new = await Wire.to(url, b"GET "), await Wire.to(url, b"GET ")
        newest = await Wire.to(url, b"GET ")
        assert await old.rest() == b""
        new.writer.write(b"/fine HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"fine" in await new.rest()
        newest.writer.write(b"/fine HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"fine" in await newest.rest()
        polls = [await Wire.to(url, b"GET /poll HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(2)]
        await wait_until("they are known", lambda: release.asked == 3)
        refused = await Wire.to(url, b"GET /fine HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await refused.rest() == b""
        release.set()
        for each in (poll, *polls):
            async with asyncio.timeout(PATIENCE):
                assert await each.reader.readuntil(b"now")
            await each.close()


async def test_large_bodies_cut_off_no_click(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given large half bodies of strangers and of somebody known; when there is no room for all, then some of
    them go, and a small request that is still arriving stays."""
    monkeypatch.setattr(connections, "MAX_BUFFERED", 600_000)
    click = b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 20001\r\n\r\n" + b"x" * 20_000
    long = b"POST /%b HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 150_000
    async with serve() as url:
        small = await Wire.to(url, click)
        halves = [await Wire.to(url, long % path) for path in [b"take", b"known-take"] * 4]
        ended = [asyncio.create_task(half.rest()) for half in halves]
        await wait_until("some are closed", lambda: sum(one.done() for one in ended) >= 4)
        small.writer.write(b"x")
        assert (await small.rest()).endswith(b"20001")
        for one in ended:
            one.cancel()
        await asyncio.gather(*ended, return_exceptions=True)


async def test_bodies_share_their_room(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """security M4: given half bodies that take more room than there is for all; then the slowest go, and a
    whole one is read."""
    monkeypatch.setattr(connections, "MAX_BUFFERED", 400_000)
    long = b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"x" * 100_000
    async with serve() as url:
        halves = [await Wire.to(url, long) for _ in range(6)]
        for half in halves[:3]:
            assert b"200" not in await half.rest()
        whole = await Wire.to(url, long + b"x" * 100_000)
        assert (await whole.rest()).endswith(b"200000")
        for half in halves[3:]:
            await half.close()


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


async def test_a_large_body_leaves_nothing(serve: Serve) -> None:
    """slack-clients 2: given bodies over the limit, announced and in chunks, and a garbage collector that
    rests; then after their answers none is kept, not even in a cycle."""

    async def send(session: aiohttp.ClientSession, url: str, count: int) -> None:
        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(32):
                yield b"x" * 65536

        for _ in range(count):
            for data in (BytesIO(b"x" * (2 * MOST)), chunks()):
                async with session.post(f"{url}/take", data=data) as answer:
                    assert await answer.text() == "too_large"

    async with serve() as url, aiohttp.ClientSession() as session:
        await send(session, url, 1)
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            await send(session, url, 10)

            def memory_now() -> int:
                return tracemalloc.get_traced_memory()[0]

            await wait_until("what was sent is gone", lambda: memory_now() < 2 * MOST)
        finally:
            tracemalloc.stop()
            gc.enable()


async def test_half_bodies_leave_nothing_when_their_connections_end(serve: Serve) -> None:
    """Given bodies of which only a part comes, and a garbage collector that rests; when the clients
    hang up, then nothing of them is kept in a cycle."""
    head = b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"

    def memory() -> int:
        return tracemalloc.get_traced_memory()[0]

    async with serve() as url:
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            wires = [await Wire.to(url, head + b"x" * 800_000) for _ in range(10)]
            for wire in wires:
                await wire.writer.drain()
            await wait_until("they have come", lambda: memory() > 6 * MOST)
            for wire in wires:
                await wire.close()
            await wait_until("nothing is kept", lambda: memory() < MOST)
        finally:
            tracemalloc.stop()
            gc.enable()


class Cycle:
    def __init__(self) -> None:
        self.me = self


async def test_memory_is_given_back_when_many_bodies_are_over(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a garbage collector that rests; when bodies of some size are over, then what is in cycles is
    freed, and so is what the allocator keeps."""
    monkeypatch.setattr(memory, "RETURNED", MOST // 2)
    monkeypatch.setattr(connections, "WATCH_INTERVAL", SHORT / 5)
    gc.disable()
    try:
        kept = weakref.ref(Cycle())
        async with serve() as url, aiohttp.ClientSession() as session:
            async with session.post(f"{url}/take", data=b"x" * (MOST // 4)) as answer:
                assert answer.status == 200
            assert kept() is not None
            for _ in range(2):
                async with session.post(f"{url}/take", data=b"x" * (MOST // 4)) as answer:
                    assert answer.status == 200
            await wait_until("it is given back", lambda: kept() is None)
    finally:
        gc.enable()


def test_a_newcomer_at_the_limit_costs_the_same_however_many_are_here() -> None:
    """HTTP M1: each looked at 4,000 others. Given a full server; then each newcomer ends the stranger who has
    asked nothing for the longest time, and nobody else is looked at.
    """
    ended: list[Counted] = []

    class Counted(Connection):
        looks = 0

        @property
        def rank(self) -> int:
            Counted.looks += 1
            return super().rank

        def abort(self) -> None:
            ended.append(self)

    here = Connections(1000)
    everybody = [Counted(here, asyncio.Protocol()) for _ in range(1200)]
    for visit in everybody[:1000]:
        here.add(visit)
    everybody[0].begin_request(EMPTY_PAYLOAD)  # a stranger who asks
    everybody[1].mark_authenticated()
    everybody[2].finish_request()  # the newest of those who ask nothing
    before = Counted.looks

    for visit in everybody[1000:]:
        here.add(visit)

    assert ended == everybody[3:203]
    assert len(here) == 1000
    assert Counted.looks - before <= 2 * 200


def test_one_process_may_open_as_many_files_as_it_serves_connections() -> None:
    """Given a soft limit of files below a larger hard one, then the soft one is raised."""
    run = (
        "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (300, 5000));"
        "from bot.web.connections import Connections; from bot.web.connection_limits import open_more_files;"
        "open_more_files();"
        "print(r.getrlimit(r.RLIMIT_NOFILE)[0], Connections()._max_connections)"
    )
    reason = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert reason.stdout.split() == ["4200", "4000"]


async def test_who_stops_reading_an_answer_is_closed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an agent's client that reads nothing of a large answer; then it is closed after the limit, and
    the rest of the answer is not kept."""
    events: list[str] = []

    class Watched(SlowReaders):
        def add(self, transport: asyncio.Transport) -> None:
            events.append("slow")
            super().add(transport)

        def remove(self, transport: asyncio.Transport) -> int:
            freed = super().remove(transport)
            events.extend(["freed"] if freed else [])
            return freed

    monkeypatch.setattr(connections, "SlowReaders", Watched)
    monkeypatch.setattr(connection_limits, "READ_TIMEOUT", SHORT)
    monkeypatch.setattr(connections, "WATCH_INTERVAL", SHORT / 5)
    async with serve() as url:
        wire = await Wire.to(url, GET_LARGE)
        await wait_until("the connection is closed", lambda: events == ["slow", "freed"], PATIENCE)
        assert len(await wire.rest()) < LARGE


async def test_all_unread_answers_together_have_a_limit(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given clients that read nothing of large answers; then those that wait longest are closed, so that no
    more than the limit is kept, and the newest is served."""
    monkeypatch.setattr(connection_limits, "MAX_UNREAD", 2 * LARGE)
    async with serve() as url:
        wires = [await Wire.to(url, GET_LARGE) for _ in range(4)]
        rest = await wires[-1].rest()
        assert len(rest) > LARGE
        ends = [len(await wire.rest()) > LARGE for wire in wires[:-1]]
    assert not all(ends)
