"""A Redis Cluster with a master that gives no answer, and no replica that takes over."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

from hitl_core import Gate, Policy, ToolCall
from hitl_core.errors import StoreUnavailable
from hitl_core.store import RedisStore, parse_partition
from hitl_core.store.redis.keys import META_KEY, Keys
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.builders import policy
from tests.support.redis_servers.cluster import NODE_TIMEOUT_MS, RedisCluster
from tests.support.redis_servers.nodes import connect
from tests.support.waiting import wait_until

#: How a master is lost.
LOSSES = ["freeze", "kill", "freeze the master of the common keys"]
THREADS = [f"t-{n}" for n in range(24)]
CALLS = [ToolCall("c1", "ask", {"n": 1})]


@contextmanager
def no_failover(cluster: RedisCluster) -> Iterator[None]:
    cluster.configure("cluster-node-timeout", 600_000)
    yield
    for node in cluster.nodes:
        if node.pid is None:
            node.start()
        assert node.pid is not None
        os.kill(node.pid, signal.SIGCONT)
    cluster.configure("cluster-node-timeout", NODE_TIMEOUT_MS)
    cluster.wait_until_whole()


@dataclass
class LosableMaster:
    """Reviews in many partitions, and a master that `lose` stops. `ids`: by thread; `lost`: those that the
    master has; `whole`: the others; `missing`: its partitions.
    """

    cluster: RedisCluster
    gate: Gate
    store: RedisStore
    ids: dict[str, str]
    master: EmbeddedRedis
    is_killed: bool

    def __post_init__(self) -> None:
        self.lost = [one for one in self.ids.values() if self.has(key_of(one))]
        self.whole = [one for one in self.ids.values() if one not in self.lost]
        everywhere = range(self.store.partitions)
        self.missing = {one for one in everywhere if self.has(Keys(one).history)}
        self._replica = self.cluster.replica_of(self.master)
        assert len(self.whole) > 3
        assert self.lost

    def has(self, key: str) -> bool:
        """Whether the master has this key. Call it before it is lost."""
        return self.cluster.master_of(key) is self.master

    def lose(self) -> None:
        if self.is_killed:
            self.master.kill()
        else:
            self._signal(signal.SIGSTOP)

    def bring_back(self) -> None:
        """The master goes on; a replica takes over from a killed one."""
        if not self.is_killed:
            self._signal(signal.SIGCONT)
            return
        with connect(self._replica) as client:
            client.execute_command("CLUSTER", "FAILOVER", "TAKEOVER")

    def _signal(self, number: signal.Signals) -> None:
        assert self.master.pid is not None
        os.kill(self.master.pid, number)


@asynccontextmanager
async def losable_master(
    cluster: RedisCluster,
    loss: str,
    rules: Policy | None = None,
    kept: Sequence[str] = (META_KEY,),
) -> AsyncIterator[LosableMaster]:
    """Submits a review in each of THREADS. No replica takes over by itself. `kept`: keys that the master does
    not have, unless `loss` says otherwise.
    """
    with no_failover(cluster):
        used = rules or policy()
        async with (
            _open_store(cluster.url) as store,
            _open_store(cluster.url) as store_of_gate,
            Gate(store_of_gate, policy=used, agent="billing", lease=60) as gate,
        ):
            ids = {one: await gate.submit(CALLS, thread_id=one) for one in THREADS}
            common = cluster.master_of(META_KEY)
            masters = [cluster.master_of(key_of(one)) for one in ids.values()]
            keeping = [cluster.master_of(key) for key in kept]
            other = next(master for master in masters if master not in keeping)
            master = common if "common" in loss else other
            yield LosableMaster(cluster, gate, store, ids, master, loss == "kill")


@asynccontextmanager
async def _open_store(url: str) -> AsyncIterator[RedisStore]:
    async def try_open() -> RedisStore | None:
        with suppress(StoreUnavailable):  # one of its commands was too slow on a busy machine
            return await RedisStore.open(url)
        return None

    store = await wait_until("the store is open", try_open)
    try:
        yield store
    finally:
        await store.close()


def partition_of(review_id: str) -> int:
    partition = parse_partition(review_id)
    assert partition is not None
    return partition


def key_of(review_id: str) -> str:
    return Keys(partition_of(review_id)).review(review_id)
