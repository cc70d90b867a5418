"""Which connections the server keeps, and which it closes."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from aiohttp.streams import EMPTY_PAYLOAD

from bot.web import connection_limits, connections
from bot.web.connection_limits import SlowReaders
from bot.web.connections import Connection, Connections
from tests.bot.server.wire import LARGE, PATIENCE, SHORT, Release, Serve, Wire
from tests.support.waiting import wait_until

GET_LARGE = b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


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
