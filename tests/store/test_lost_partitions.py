"""In a Redis Cluster a replica that lags becomes master: the reviews of its partitions are held, and the
others continue.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hitl_core.errors import Refused, StoreUnavailable
from hitl_core.review import Reviews, claims
from hitl_core.store import RedisStore, parse_partition
from hitl_core.store.redis.keys import Keys
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.steps import approved, created, loaded, stepped
from tests.support.builders import approve_all
from tests.support.redis_servers.cluster import NODE_TIMEOUT_MS, RedisCluster
from tests.support.redis_servers.nodes import connect
from tests.support.waiting import wait_until

REVIEWS = 24
#: In seconds. On a busy machine a failover takes a while.
PATIENCE = 60


@pytest.fixture
def cluster(cluster_url: str, redis_cluster: RedisCluster) -> Iterator[RedisCluster]:
    redis_cluster.configure("cluster-node-timeout", 1000)
    yield redis_cluster
    for node in redis_cluster.nodes:
        if node.pid is None:
            node.start()
        with connect(node) as client:
            client.execute_command("ACL", "SETUSER", "default", "+@all")
    redis_cluster.wait_until_whole()
    redis_cluster.configure("cluster-node-timeout", NODE_TIMEOUT_MS)


def cut_off(replica: EmbeddedRedis, master: EmbeddedRedis) -> None:
    """The replica gets nothing any more: its connection is closed, and the master lets none in."""
    with connect(master) as client:
        # A replica whose PSYNC is refused asks for all data with SYNC.
        client.execute_command("ACL", "SETUSER", "default", "-psync", "-sync", "-replconf")
        client.execute_command("CLIENT", "KILL", "TYPE", "replica")
    with connect(replica) as client:
        client.execute_command("CLIENT", "KILL", "TYPE", "master")


async def test_a_failover_in_a_cluster_holds_the_partitions_that_lost_writes(
    cluster: RedisCluster,
) -> None:
    """Fault R5, T54: given reviews in all partitions, and a master whose replica lags when decisions are
    acknowledged; when the master dies, then the live reviews of its partitions are held for a process that
    saw the decisions, none of their calls may run, and those of the other masters are decided and go on."""
    store = await RedisStore.open(cluster.url)
    try:
        reviews = Reviews(store, retry_seconds=0.2)
        ids = [(await created(store, thread_id=f"t-{n}")).id for n in range(REVIEWS)]
        dying = cluster.master_of(_key(ids[0]))
        lost = [one for one in ids if cluster.master_of(_key(one)) is dying]
        others = [one for one in ids if one not in lost]
        assert len(lost) > 1
        assert others
        replica = cluster.replica_of(dying)
        await wait_until("the replica has all", lambda: _offset(replica) >= _offset(dying), 30)
        cut_off(replica, dying)
        for one in lost:
            await approve_all(reviews, one)

        dying.kill()

        async def is_held(review_id: str) -> bool:
            try:
                await store.check_history()
                return (await reviews.load(review_id)).held
            except StoreUnavailable:
                return False

        for one in lost:
            await wait_until("it is held", lambda one=one: is_held(one), PATIENCE)
            assert (await reviews.load(one)).review.status == "pending", "the decision was lost"
            with pytest.raises(Refused, match="store lost data"):
                await approve_all(reviews, one)
        for one in others:
            assert not (await reviews.load(one)).held
            await approve_all(reviews, one)
            assert (await reviews.load(one)).review.status == "settled"
    finally:
        await store.close()


async def test_an_idle_process_claims_nothing_right_after_a_failover(
    cluster: RedisCluster,
) -> None:
    """Fault R5, T54: given a call that a process claimed, a replica that lacks the claim, and another process
    that meets no error: the old master only says where the slot is now. Then it claims nothing, because the
    first one has had no time to find the loss."""
    store, idle = await RedisStore.open(cluster.url), await RedisStore.open(cluster.url)
    try:
        review = await approved(store, await created(store))
        master = cluster.master_of(_key(review.id))
        replica = cluster.replica_of(master)
        await wait_until("the replica has all", lambda: _offset(replica) >= _offset(master), 30)
        await idle.load(review.id)
        cut_off(replica, master)
        await stepped(store, claims.claim(review, "p1", await store.now(), 30))

        with connect(replica) as client:
            client.execute_command("CLUSTER", "FAILOVER", "TAKEOVER")
        await wait_until("the master is replaced", lambda: not _is_master(master), PATIENCE)

        assert (await loaded(idle, review.id)).status == "settled", "the claim was lost"
        with pytest.raises(StoreUnavailable, match="restarted or replaced"):
            await stepped(idle, claims.claim(review, "p2", await idle.now(), 30))
    finally:
        await store.close()
        await idle.close()


def _is_master(node: EmbeddedRedis) -> bool:
    with connect(node) as client:
        return client.info("replication")["role"] == "master"


def _key(review_id: str) -> str:
    partition = parse_partition(review_id)
    assert partition is not None
    return Keys(partition).review(review_id)


def _offset(node: EmbeddedRedis) -> int:
    with connect(node) as client:
        info = client.info("replication")
    return info.get("slave_repl_offset", info["master_repl_offset"])
