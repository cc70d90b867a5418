"""A Redis Cluster and a set with Sentinels: partitions, connections, URLs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from typing import Any

import pytest
from redis import Redis

from hitl_core.errors import SettingsError, StoreError, StoreUnavailable
from hitl_core.store import RedisStore
from hitl_core.store.redis.connection import connect
from hitl_core.store.redis.keys import META_KEY, Keys
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.steps import OPS, created, finished
from tests.support.redis_servers.cluster import RedisCluster
from tests.support.redis_servers.nodes import address_of, port_of
from tests.support.redis_servers.nodes import connect as connect_to
from tests.support.redis_servers.sentinels import DOWN_AFTER_MS, NAME, RedisSentinels
from tests.support.waiting import wait_until


async def test_partitions_are_the_same_for_all_processes(cluster_url: str):
    """Given a cluster, then it has 16 partitions, on all masters, and another number is refused."""
    store = await RedisStore.open(cluster_url)
    assert store.partitions == 16
    await store.close()

    with pytest.raises(SettingsError, match=r"has 16 partitions, and the setting says 4\."):
        await RedisStore.open(cluster_url, partitions=4)


def test_the_partitions_lie_on_all_masters(redis_cluster: RedisCluster):
    owners = Counter(port_of(redis_cluster.master_of(Keys(p).due)) for p in range(16))
    assert len(owners) == 3
    assert min(owners.values()) >= 4


async def test_more_commands_than_connections_wait(cluster_url: str):
    """Given one connection to each node, when 200 commands are sent at once, then each gets its own reply."""
    client: Any = connect(cluster_url, connections=1)
    try:
        await asyncio.gather(*(client.set(f"k{n}", n, px=9000) for n in range(200)))
        found = await asyncio.gather(*(client.get(f"k{n}") for n in range(200)))
        assert found == [str(n).encode() for n in range(200)]
    finally:
        await client.aclose()
    with pytest.raises(StoreError, match="closed"):
        await client.get("k1")


async def test_a_script_is_known_to_every_node(cluster_url: str, redis_cluster: RedisCluster):
    """Fault R3: given nodes that forgot their scripts, then a write works, and so does a pipeline of
    scripts."""
    store = await RedisStore.open(cluster_url)
    for node in redis_cluster.masters():
        with connect_to(node) as client:
            client.script_flush()
    lanes = [f"lane-{n}" for n in range(20)]

    assert await store.hold_lanes(lanes, "bot", 8) == set(lanes)
    review = await finished(store, await created(store))
    await store.record_shown_version(review.id, OPS, 1)
    await store.close()


async def test_a_cluster_waits_for_its_replicas(cluster_url: str, redis_cluster: RedisCluster):
    """Given replicas that are frozen, then a decision is not confirmed; afterwards it is."""
    store = await RedisStore.open(cluster_url)
    store.wait_replicas = 1
    review = await created(store)
    await store.confirm(review.id)
    masters = redis_cluster.masters()
    frozen = [node.pid for node in redis_cluster.running() if node not in masters and node.pid]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(StoreUnavailable, match="0 of 1 replicas"):
            await store.confirm(review.id)
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    await store.confirm(review.id)
    await store.close()


async def test_hints_come_from_all_partitions(cluster_url: str):
    """Given reviews in many partitions, then one listener hears of each, also while it waits."""
    store = await RedisStore.open(cluster_url)
    assert await store.agent_hints("billing", 0) == []
    assert await store.agent_hints("billing", 0.01) == []
    made = [await created(store, agent="billing", thread_id=f"t-{n}") for n in range(8)]
    heard = set[str]()

    async def all_heard() -> bool:
        heard.update(hint.review_id for hint in await store.agent_hints("billing", 1))
        return heard == {review.id for review in made}

    await wait_until("all are heard", all_heard)
    await store.close()


@pytest.mark.parametrize("way", ["cluster", "sentinel"])
async def test_a_plain_url_of_such_a_set_says_which_url_to_use(
    way: str, redis_cluster: RedisCluster, redis_sentinels: RedisSentinels
):
    if way == "cluster":
        at = address_of(redis_cluster.nodes[0])
        message = f"Redis at redis://{at}/0 is a node of a Redis Cluster: use redis+cluster://{at}."
    else:
        at = f"127.0.0.1:{redis_sentinels.sentinel_ports[0]}"
        message = f"Redis at redis://{at}/0 is a Sentinel: use redis+sentinel://{at}/hitl."
    with pytest.raises(SettingsError) as caught:
        await RedisStore.open(f"redis://{at}/0")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("scheme", "path", "message"),
    [
        ("redis+cluster", "", "is no node of a Redis Cluster: use redis://{at}."),
        ("redis+sentinel", "/hitl", "is no Sentinel: use redis://{at}."),
    ],
)
async def test_a_single_server_says_that_it_is_one(
    redis_url: str, scheme: str, path: str, message: str
):
    at = redis_url.removeprefix("redis://").partition("/")[0]
    with pytest.raises(SettingsError) as caught:
        await RedisStore.open(f"{scheme}://{at}{path}")
    assert str(caught.value).endswith(message.format(at=at))


async def test_sentinels_that_know_another_name_say_which(sentinel_url: str):
    with pytest.raises(SettingsError, match=r"know no master 'other'\. They know: hitl\."):
        await RedisStore.open(sentinel_url.replace("/hitl", "/other"))


async def test_a_sentinel_that_names_a_replica_is_told(
    sentinel_url: str, redis_sentinels: RedisSentinels
) -> None:
    """Given a first Sentinel with the wrong master: the connection was said to be lost."""
    port, *_ = redis_sentinels.sentinel_ports
    master = redis_sentinels.master()
    [replica] = [node for node in redis_sentinels.nodes if node is not master]

    def monitor(node: EmbeddedRedis) -> None:
        with Redis(port=port) as sentinel:
            sentinel.execute_command("SENTINEL", "REMOVE", NAME)
            sentinel.execute_command("SENTINEL", "MONITOR", NAME, *address_of(node).split(":"), 2)

    monitor(replica)
    try:
        store = await RedisStore.open(sentinel_url, set_partitions=False)
        with pytest.raises(StoreUnavailable, match="a Sentinel named a replica"):
            await store.try_lock("one", 1)
        await store.close()
    finally:
        monitor(master)
        redis_sentinels.configure("down-after-milliseconds", DOWN_AFTER_MS)
        redis_sentinels.wait_until_whole()


@pytest.mark.parametrize(
    "url", ["redis+cluster://:hunter2@127.0.0.1:1", "redis+sentinel://a:hunter2@127.0.0.1:1/hitl"]
)
async def test_nobody_answers(url: str):
    with pytest.raises(StoreUnavailable, match="can't be reached") as caught:
        await RedisStore.open(url)
    assert "hunter2" not in str(caught.value)
    assert META_KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("redis+cluster://:hunter2@h:1,h:2/3", "a cluster has only database 0"),
        ("redis+sentinel://:hunter2@h:1", "it lacks the name"),
        ("redis+cluster://:hunter2@h:port", "is not a redis:// URL"),
        ("redis+cluster://:hunter2@", "is not a redis:// URL"),
        ("redis+other://:hunter2@h:1", "is not a redis:// URL"),
    ],
)
async def test_a_url_that_cannot_be_read(url: str, words: str):
    with pytest.raises(SettingsError) as caught:
        await RedisStore.open(url)
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)
