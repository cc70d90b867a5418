"""HITL_REDIS_WAIT_REPLICAS: an acknowledged write is on a replica; and a failover to a replica that lags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis

from hitl_core.errors import SettingsError, StoreUnavailable
from hitl_core.review import Reviews
from hitl_core.store import HistoryCheck, RedisStore, read_wait_replicas
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.steps import approved, created, decided, loaded, next_write
from tests.support.builders import approve_all
from tests.support.waiting import wait_until

Pair = tuple[EmbeddedRedis, EmbeddedRedis]


@pytest.fixture
async def pair(own_redis: Callable[[], EmbeddedRedis]) -> Pair:
    """A primary and its replica, which follows it."""
    primary, replica = own_redis(), own_redis()
    follow(replica, primary)

    def follows() -> bool:
        return command(replica, "INFO", "replication")["master_link_status"] == "up"

    await wait_until("the replica follows", follows, 30)
    return primary, replica


def command(server: EmbeddedRedis, *words: str) -> Any:
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        return client.execute_command(*words)


def follow(replica: EmbeddedRedis, primary: EmbeddedRedis) -> None:
    command(replica, "REPLICAOF", "127.0.0.1", primary.url.split(":")[2].split("/")[0])


async def promote(replica: EmbeddedRedis, primary: EmbeddedRedis) -> None:
    """The replica becomes a primary with all that was written until now, and gets nothing that follows."""

    def has_all() -> bool:
        return command(replica, "DBSIZE") == command(primary, "DBSIZE")

    await wait_until("the replica has all keys", has_all, 30)
    command(replica, "REPLICAOF", "NO", "ONE")


async def test_what_is_acknowledged_is_on_the_replica(pair: Pair) -> None:
    """Fault R5."""
    primary, replica = pair
    store = await RedisStore.open(primary.url, wait_replicas=1)
    review = await approved(store, await created(store))
    copy = await RedisStore.open(replica.url, set_partitions=False)
    assert await loaded(copy, review.id) == review
    for each in (store, copy):
        await each.close()


async def test_a_decision_that_no_replica_confirms_is_not_acknowledged(pair: Pair) -> None:
    """Given a replica that is gone; then the decision is stored and not acknowledged, nor is a second
    try; with the replica back, the same try is acknowledged, and it counted once."""
    primary, replica = pair
    store = await RedisStore.open(primary.url, wait_replicas=1)
    reviews = Reviews(store, retry_seconds=0.1)
    review = await created(store)
    replica.kill()

    write = await next_write(store, decided(review, await store.now()))
    with pytest.raises(StoreUnavailable, match="0 of 1 replicas"):
        await store.commit(write)
    with pytest.raises(StoreUnavailable, match="HITL_REDIS_WAIT_REPLICAS"):
        await store.confirm(review.id)
    assert (await loaded(store, review.id)).status == "settled"

    replica.start()
    follow(replica, primary)

    async def confirmed() -> bool:
        try:
            await store.confirm(review.id)
        except StoreUnavailable:
            return False
        return True

    await wait_until("the replica has it", confirmed, 30)
    assert (await reviews.load(review.id)).review.version == 2
    await store.close()


async def test_a_failover_to_a_replica_that_lags_is_a_loss(pair: Pair) -> None:
    """Fault R5, T54: given a replica that lacks a decision, and becomes the primary at the same address; then
    the process that made the decision notices it, and the review is held."""
    primary, replica = pair
    store = await RedisStore.open(primary.url)
    review = await created(store)
    await store.confirm(review.id)
    await promote(replica, primary)
    await approve_all(Reviews(store), review.id)

    promoted = await RedisStore.open(replica.url)
    promoted._seen = dict(store._seen)  # the same process, sent to the new primary

    assert await promoted.check_history() == HistoryCheck(lost=True, held=1)
    snapshot = await promoted.load(review.id)
    assert snapshot is not None
    assert (snapshot.held, snapshot.review.status) == (True, "pending")
    for each in (store, promoted):
        await each.close()


async def test_a_failover_before_the_replicas_are_asked_acknowledges_nothing(
    pair: Pair, own_redis: Callable[[], EmbeddedRedis]
) -> None:
    """Given a decision that was written, and a replica that lacks it and takes over before the replicas are
    asked; then its own replicas confirm nothing, and the review is held."""
    primary, replica = pair
    last = own_redis()
    store = await RedisStore.open(primary.url)
    review = await created(store)
    await promote(replica, primary)
    await approve_all(Reviews(store), review.id)
    follow(last, replica)
    promoted = await RedisStore.open(replica.url, wait_replicas=1)

    async def has_replica() -> bool:
        return await promoted.missing_replicas() == 0

    await wait_until("it has a replica", has_replica, 30)
    promoted._seen = dict(store._seen)  # the same process, sent to the new primary

    with pytest.raises(StoreUnavailable, match="a server that lacks it"):
        await promoted.confirm(review.id)
    snapshot = await promoted.load(review.id)
    assert snapshot is not None
    assert (snapshot.held, snapshot.review.status) == (True, "pending")
    for each in (store, promoted):
        await each.close()


@pytest.mark.parametrize("text", ["-1", "one", "1.5", "100"])
def test_a_wrong_number_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="HITL_REDIS_WAIT_REPLICAS"):
        read_wait_replicas({"HITL_REDIS_WAIT_REPLICAS": text})


def test_no_number_is_none() -> None:
    assert read_wait_replicas({}) == 0
