"""`make chaos` passes if the product has no bug, and fails for each bug that is added on purpose."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import redis.asyncio

from benchmarks.chaos.faults.injector import schedule
from benchmarks.chaos.faults.link import open_link
from benchmarks.chaos.faults.remote_link import open_remote_links
from benchmarks.chaos.journal import Journal, JournalReader
from benchmarks.chaos.names import CHATS, ChatName
from benchmarks.chaos.people.board import Board
from benchmarks.chaos.plan import FAULT_GROUPS, Plan, policy
from benchmarks.chaos.verdict.evidence import verify_audit
from benchmarks.support.process import ROOT
from hitl_core.review import Reviews
from hitl_core.store import RedisStore
from tests.store.steps import created
from tests.support.builders import approve_all


def chaos(folder: Path, *options: str) -> tuple[int, list[str]]:
    """The exit status, and the printed lines."""
    command = [sys.executable, "-m", "benchmarks.chaos", "--tiny", "--seed=3", f"--folder={folder}"]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


@pytest.mark.redis
@pytest.mark.slow  # eight processes, each started in a second
@pytest.mark.parametrize(  # steps of CI run both chats with a single Redis
    "options", [("--redis=sentinel", "--mode=socket"), ("--redis=cluster", "--channel=teams")]
)
def test_a_run_without_faults_passes(options: tuple[str, str], tmp_path: Path):
    """Given no faults, then every count is 0, and the last line is the verdict."""
    status, lines = chaos(tmp_path / "run", "--faults=none", *options)

    assert lines[-1].startswith("chaos: passed"), "\n".join(lines)
    assert status == 0


@pytest.mark.redis
@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "options", "seen"),
    [
        ("version-check", ("--faults=none",), "settled twice"),
        ("early-ack", ("--faults=none", "--mode=socket"), "acknowledged decisions contradicted"),
        ("lost-drawing", ("--faults=none", "--channel=teams"), "cards with a wrong end"),
        ("everysec", ("--faults=redis",), "acknowledged decisions lost"),
    ],
)
def test_a_planted_fault_is_seen(bug: str, options: tuple[str, ...], seen: str, tmp_path: Path):
    """Given a bot that breaks one promise, or a Redis that loses writes, then the run fails and says so."""
    status, lines = chaos(tmp_path / "run", f"--bug={bug}", *options)

    assert status == 1
    assert lines[-1].startswith("chaos: FAILED")
    [count] = [int(line.split()[0]) for line in lines if line.endswith(f"  {seen}")]
    assert count > 0


async def test_a_broken_chain_is_seen(redis_url: str):
    """Given a review, and somebody who removes the first entry of its audit, then the run's check says so."""
    store = await RedisStore.open(redis_url)
    try:
        await created(store)
        await approve_all(Reviews(store), (await store.live_ids())[0])
    finally:
        await store.close()
    whole = await verify_audit(redis_url)
    client: Any = redis.asyncio.Redis.from_url(redis_url)
    async with client:
        [(first, _), *_] = await client.xrange("hitl:{0}:audit")
        await client.xdel("hitl:{0}:audit", first)

    assert whole == ""
    assert "entries before it are missing" in await verify_audit(redis_url)


def test_a_seed_gives_the_same_run():
    one, two, other = (Plan.short(seed=seed) for seed in (7, 7, 8))

    assert one.items() == two.items() != other.items()
    assert schedule(one) == schedule(two) != schedule(other)
    assert {fault.group for fault in schedule(one)} == set(FAULT_GROUPS)


def test_a_group_that_is_left_out_changes_no_other():
    both = schedule(Plan.short(seed=7, faults=("bots", "redis")))

    alone = schedule(Plan.short(seed=7, faults=("redis",)))

    assert [fault for fault in both if fault.group == "redis"] == alone


@pytest.mark.parametrize("chat", CHATS)
def test_each_review_falls_under_a_rule_that_asks_people(chat: ChatName):
    rules, items = policy(chat), Plan.short(seed=7, chat=chat).items()

    assert {rules.judge(call).verdict.kind for item in items for call in item.calls} == {"review"}


def test_a_plan_survives_its_file(tmp_path: Path):
    plan = Plan.tiny(seed=7, faults=("bots",), bug="early-ack")
    plan.save(tmp_path / "plan")

    assert Plan.load(tmp_path / "plan") == plan


def test_each_card_is_found_once_also_after_the_newest_was_deleted():
    """The board read all messages of the channel again, and each counted as double."""
    messages = dict[str, str]()

    class OneChannel:
        def messages(self) -> Iterator[tuple[str, dict[str, str]]]:
            yield "C0CHAOS0", messages

        def card(self, message: str) -> Any:
            return SimpleNamespace(review="0-1", id=message, exists=True)

    board = Board(cast(Any, OneChannel()))
    for ts in ("1.1", "1.2"):
        messages[ts] = ts
        board.look()
    del messages["1.2"]
    board.look()
    assert [one.id for one in board.cards("0-1")] == ["1.1", "1.2"]


def test_two_writers_of_a_journal_lose_no_line(tmp_path: Path):
    one, two = Journal(tmp_path / "j"), Journal(tmp_path / "j")
    for number in range(3):
        one.write(by=1, number=number)
        two.write(by=2, number=number)

    assert [entry["number"] for entry in one.read()] == [0, 0, 1, 1, 2, 2]


def test_a_reader_of_a_journal_gets_each_whole_line_once(tmp_path: Path):
    """Given a line that is still being written, then it comes with the next call."""
    reader, file = JournalReader(tmp_path / "j"), tmp_path / "j"
    assert reader.new() == []
    file.write_text('{"number": 1}\n{"num')
    first = reader.new()
    with file.open("a") as end:
        end.write('ber": 2}\n')

    assert [*first, *reader.new(), *reader.new()] == [{"number": 1}, {"number": 2}]


class Echo(asyncio.Protocol):
    """A server that sends back what it gets."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


async def ask(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"hello")
        return await reader.read(100)
    except ConnectionError:
        return b""
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_a_link_loses_one_reply_and_then_works():
    """When one reply is to be lost, then its connection ends without it, and the next one works."""
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    address: tuple[str, int] = server.sockets[0].getsockname()
    async with server, open_link("test", [address]) as link:
        assert await ask(link.port) == b"hello"
        link.lose_reply()
        assert await ask(link.port) == b""
        assert await ask(link.port) == b"hello"
        link.delay = 0.01
        assert await ask(link.port) == b"hello"


async def test_a_link_in_another_process_is_broken_and_works_again():
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    address: tuple[str, int] = server.sockets[0].getsockname()
    async with server, open_remote_links() as links:
        one, other = await links.open(address), await links.open(address)
        other.do("lose_reply")
        assert await ask(one.port) == b"hello"
        assert await ask(other.port) == b""
        assert await ask(other.port) == b"hello"


async def test_after_a_half_close_requests_arrive_and_replies_are_lost(
    caplog: pytest.LogCaptureFixture,
):
    """Given a program that has read an end and goes on sending, then no part of the link fails."""
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    address: tuple[str, int] = server.sockets[0].getsockname()
    async with server, open_link("test", [address]) as link:
        reader, writer = await asyncio.open_connection("127.0.0.1", link.port)
        writer.write(b"hello")
        await reader.readexactly(5)
        link.half_close()
        assert await reader.read() == b""
        writer.write(b"more")
        assert [await ask(link.port) for _ in range(3)] == [b"hello"] * 3
        writer.close()
        await writer.wait_closed()

    assert "Fatal error" not in caplog.text
