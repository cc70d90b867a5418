"""A Redis Cluster and a Sentinel set that lose a master while people click; slots that move; the clients of
both.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from redis.crc import key_slot

from hitl_core import Gate, Outcome, ToolCall
from hitl_core.audit import seal
from hitl_core.errors import StoreUnavailable
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.store import RedisStore, parse_partition
from hitl_core.store.redis.connection import connect
from hitl_core.store.redis.keys import Keys
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.steps import approved, created, loaded
from tests.support.builders import person, policy
from tests.support.redis_servers.cluster import NODE_TIMEOUT_MS, RedisCluster
from tests.support.redis_servers.nodes import address_of
from tests.support.redis_servers.nodes import connect as connect_to
from tests.support.redis_servers.sentinels import DOWN_AFTER_MS, RedisSentinels

REVIEWS = 24
#: After this many acknowledged clicks the master dies.
CLICKS_BEFORE = 8
#: In seconds. On a busy machine a failover takes a while.
PATIENCE = 120


class Failover(NamedTuple):
    """How the master of a review dies, and how the set becomes whole again."""

    url: str
    kill: Callable[[str], None]
    heal: Callable[[], None]


@pytest.fixture
def cluster_failover(cluster_url: str, redis_cluster: RedisCluster) -> Iterator[Failover]:
    redis_cluster.configure("cluster-node-timeout", 1000)
    dead: list[EmbeddedRedis] = []

    def kill(review_id: str) -> None:
        partition = parse_partition(review_id)
        assert partition is not None
        dead.append(redis_cluster.kill_master(Keys(partition).review(review_id)))

    def heal() -> None:
        for node in dead:
            node.start()
        dead.clear()
        redis_cluster.wait_until_whole()
        redis_cluster.configure("cluster-node-timeout", NODE_TIMEOUT_MS)

    yield Failover(cluster_url, kill, heal)
    heal()


@pytest.fixture
def sentinel_failover(sentinel_url: str, redis_sentinels: RedisSentinels) -> Iterator[Failover]:
    redis_sentinels.configure("down-after-milliseconds", 1000)
    dead: list[EmbeddedRedis] = []

    def heal() -> None:
        for node in dead:
            redis_sentinels.wait_for_master()
            node.start()
            redis_sentinels.follow(node, redis_sentinels.master())
        dead.clear()
        redis_sentinels.wait_until_whole()
        redis_sentinels.configure("down-after-milliseconds", DOWN_AFTER_MS)

    yield Failover(sentinel_url, lambda _: dead.append(redis_sentinels.kill_master()), heal)
    heal()


@dataclass
class Counts:
    acknowledged: set[str] = field(default_factory=set[str])
    runs: Counter[str] = field(default_factory=Counter[str])


async def press(gate: Gate, review_id: str, counts: Counts) -> None:
    """Press until it is acknowledged, as a person does who reads that it failed."""
    click = Decide(review_id, "1", Proposal("approve", 1), person(), f"click-{review_id}")
    while review_id not in counts.acknowledged:
        try:
            await gate.reviews.apply(click)
            counts.acknowledged.add(review_id)
        except StoreUnavailable:
            await asyncio.sleep(0.05)


async def run(outcome: Outcome, counts: Counts) -> None:
    """As an agent: the tool runs when `once` says so; the rest is tried until it is stored."""
    [call] = outcome.execute
    if await until_stored(lambda: outcome.once(call)):
        counts.runs[outcome.review_id] += 1
    await until_stored(lambda: outcome.report({call.id: "sent"}))
    await until_stored(outcome.finish)


async def until_stored(work: Callable[[], Any]) -> Any:
    while True:
        try:
            return await work()
        except StoreUnavailable:
            await asyncio.sleep(0.05)


async def clicks_amid(failover: Failover) -> Counts:
    """`REVIEWS` reviews are decided, one after the other, and their agent runs them; meanwhile the master of
    the next one dies."""
    counts = Counts()
    async with Gate.connect(failover.url, policy=policy(), agent="billing", lease=PATIENCE) as gate:
        calls = [ToolCall("c1", "ask", {"n": 1})]
        ids = [await gate.submit(calls, thread_id=f"t-{n}") for n in range(REVIEWS)]

        async def wait_and_run(review_id: str) -> None:
            await run(await until_stored(lambda: gate.wait(review_id)), counts)

        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as agents:
            for review_id in ids:
                agents.create_task(wait_and_run(review_id))
            for n, review_id in enumerate(ids):
                if n == CLICKS_BEFORE:
                    failover.kill(review_id)
                await press(gate, review_id, counts)
        for review_id in ids:
            review = (await gate.reviews.load(review_id)).review
            assert review.status == "done", review_id
    return counts


async def test_a_master_of_the_cluster_dies_amid_clicks(cluster_failover: Failover):
    """No decision that was acknowledged is lost, and no call runs twice. Redis copies asynchronously: of a
    master that can't send any more, what it acknowledged last would be lost. A killed process has sent it."""
    counts = await clicks_amid(cluster_failover)

    assert len(counts.acknowledged) == REVIEWS
    assert counts.runs == dict.fromkeys(counts.acknowledged, 1)


async def test_a_master_behind_sentinels_dies_amid_clicks(sentinel_failover: Failover):
    counts = await clicks_amid(sentinel_failover)

    assert len(counts.acknowledged) == REVIEWS
    assert counts.runs == dict.fromkeys(counts.acknowledged, 1)


async def test_no_sentinel_is_lost(sentinel_url: str, redis_sentinels: RedisSentinels):
    """Given a first Sentinel that is away, when many connections ask at once, then all of them stay known."""
    nobody, *others = redis_sentinels.sentinel_ports
    client: Any = connect(sentinel_url.replace(f":{nobody},", ":1,"))
    try:
        await asyncio.gather(*(client.get("k") for _ in range(20)))
        known = client.connection_pool.sentinel_manager.sentinels
        ports = [each.connection_pool.connection_kwargs["port"] for each in known]
        assert sorted(ports) == sorted([1, *others])
    finally:
        await client.aclose()


async def test_slots_that_move_are_followed(cluster_url: str, redis_cluster: RedisCluster):
    """Fault R8: given a partition whose slot is being moved, then what was moved already is read by ASK;
    scripts with several keys are refused with a sentence by Redis itself; after that all work, by MOVED."""
    store = await RedisStore.open(cluster_url)
    review = await created(store, thread_id="t")
    partition = parse_partition(review.id)
    assert partition is not None
    key = Keys(partition).review(review.id)
    source = redis_cluster.master_of(key)
    target = next(node for node in redis_cluster.masters() if node is not source)

    with Migration(source, target, key_slot(key.encode())) as migration:
        migration.move_keys()
        reads = (store.load_arguments(review.id, ["1:1"]) for _ in range(20))
        assert await asyncio.gather(*reads) == [{"1:1": review.args["1:1"]}] * 20
        with pytest.raises(StoreUnavailable, match=r"its cluster is being changed \(TRYAGAIN\)"):
            await approved(store, review)
        migration.finish(redis_cluster)
        await approved(store, review)
        assert (await loaded(store, review.id)).status == "settled"
        assert await store.due_reviews() == []
    await store.close()


async def test_replicas_confirm_while_a_slot_moves(
    cluster_url: str, redis_cluster: RedisCluster
) -> None:
    """Given a process that waits for a replica, and whose map of the slots is old: each confirmation was
    refused, and the reason said that the URL was wrong."""
    store = await RedisStore.open(cluster_url)
    store.wait_replicas = 1
    review = await created(store, thread_id="t")
    await seal(store)  # while its slot moves, a script must find all of its keys
    key = Keys(parse_partition(review.id) or 0).review(review.id)
    source = redis_cluster.master_of(key)
    target = next(node for node in redis_cluster.masters() if node is not source)

    with Migration(source, target, key_slot(key.encode())) as migration:
        migration.move_keys()
        await store.confirm(review.id)
        migration.finish(redis_cluster)
        await store.confirm(review.id)
    await store.close()


async def test_a_review_is_found_while_its_slot_moves_and_after_it(
    cluster_url: str, redis_cluster: RedisCluster
) -> None:
    """Given the beginning of an id; while its slot moves, and afterwards for a process whose map of the slots
    is old: nothing was found."""
    store = await RedisStore.open(cluster_url)
    review = await created(store, thread_id="t")
    key = Keys(parse_partition(review.id) or 0).review(review.id)
    source = redis_cluster.master_of(key)
    target = next(node for node in redis_cluster.masters() if node is not source)

    with Migration(source, target, key_slot(key.encode())) as migration:
        migration.move_keys()
        assert await store.find_ids(review.id[:10]) == [review.id]
        migration.finish(redis_cluster)
        assert await store.find_ids(review.id[:10]) == [review.id]
    await store.close()


class Migration:
    """Moves one slot from a node to another one, and back at the end."""

    def __init__(self, source: EmbeddedRedis, target: EmbeddedRedis, slot: int) -> None:
        self._source, self._target, self._slot = source, target, slot

    def __enter__(self) -> Migration:
        self._mark(self._source, self._target)
        return self

    def __exit__(self, *_: object) -> None:
        self._mark(self._target, self._source)
        self._move(self._target, self._source)
        self._set(self._source, [self._source, self._target])

    def move_keys(self) -> None:
        self._move(self._source, self._target)

    def finish(self, cluster: RedisCluster) -> None:
        self._set(self._target, cluster.masters())

    def _mark(self, source: EmbeddedRedis, target: EmbeddedRedis) -> None:
        self._command(target, "CLUSTER", "SETSLOT", self._slot, "IMPORTING", self._id(source))
        self._command(source, "CLUSTER", "SETSLOT", self._slot, "MIGRATING", self._id(target))

    def _move(self, source: EmbeddedRedis, target: EmbeddedRedis) -> None:
        while keys := self._command(source, "CLUSTER", "GETKEYSINSLOT", self._slot, 100):
            host, _, port = address_of(target).partition(":")
            self._command(source, "MIGRATE", host, port, "", 0, 5000, "KEYS", *keys)

    def _set(self, owner: EmbeddedRedis, nodes: list[EmbeddedRedis]) -> None:
        for node in nodes:
            self._command(node, "CLUSTER", "SETSLOT", self._slot, "NODE", self._id(owner))

    def _id(self, node: EmbeddedRedis) -> str:
        return self._command(node, "CLUSTER", "MYID").decode()

    def _command(self, node: EmbeddedRedis, *words: Any) -> Any:
        with connect_to(node) as client:
            return client.execute_command(*words)
