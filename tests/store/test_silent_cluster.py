"""A Redis Cluster of which no node answers: a command ends in time, and nothing is held up."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Iterator

import pytest

from hitl_core.errors import StoreUnavailable
from hitl_core.store import RedisStore
from hitl_core.store.redis.connection import client, parse_redis_url
from hitl_core.store.redis.connection.causes import causes
from hitl_core.store.redis.connection.slot_map import SlotMap
from tests.support.redis_servers.cluster import RedisCluster

#: A process that is held up can't end a test by its own timers.
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "COMMAND_TIMEOUT", 0.5)


@pytest.fixture
def freeze(redis_cluster: RedisCluster) -> Iterator[Callable[[], None]]:
    """Stops all nodes, as a network does that drops everything."""
    pids = [node.pid for node in redis_cluster.nodes if node.pid is not None]

    def stop() -> None:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)

    yield stop
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    redis_cluster.wait_until_whole()


async def test_a_cluster_that_hangs_holds_up_nothing(
    cluster_url: str, freeze: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process looked for the reason without end: a bot answered no probe until it was killed."""
    monkeypatch.setattr(client, "COMMAND_TIMEOUT", 5.0)
    store = await RedisStore.open(cluster_url)
    monkeypatch.setattr(client, "COMMAND_TIMEOUT", 0.5)
    freeze()
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await store.now()
    await store.close()


@pytest.mark.servers
@pytest.mark.parametrize("closes", [True, False])
async def test_no_answer_of_a_cluster_ends_the_start_in_time(closes: bool) -> None:
    """Given a node that says nothing, or ends each connection; then a start is a sentence."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1 if closes else -1)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(StoreUnavailable, match="can't be reached"):
        await RedisStore.open(f"redis+cluster://127.0.0.1:{port}")
    server.close()


async def test_a_host_that_is_no_name_is_a_sentence() -> None:
    with pytest.raises(StoreUnavailable, match="can't be reached"):
        await RedisStore.open("redis+cluster://127.0..1:6379")


def test_a_ring_of_errors_ends() -> None:
    inner, outer = ValueError(), ValueError()
    inner.__context__, outer.__cause__ = outer, inner
    assert list(causes(outer)) == [outer, inner]


async def test_a_map_that_is_being_read_leaves_no_connection_when_the_store_closes(
    cluster_url: str,
) -> None:
    """Given a store that is closed at any moment of the reading; then Python finds no open connection."""
    for moment in range(0, 200, 2):
        slots = SlotMap(parse_redis_url(cluster_url))
        reading = asyncio.create_task(slots.masters())
        for _ in range(moment):
            await asyncio.sleep(0)
        await slots.aclose()
        await asyncio.gather(reading, return_exceptions=True)
    gc.collect()  # which warns about each
