"""The memory of bodies: how much all of them may take, and that it is released."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
import weakref
from collections.abc import AsyncIterator
from io import BytesIO

import aiohttp
import pytest

from bot.web import connections, memory
from tests.bot.server.wire import MOST, SHORT, Serve, Wire
from tests.support.waiting import wait_until


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
