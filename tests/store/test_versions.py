"""The contract, kept by the servers of other versions that are on the PATH; the others are skipped.

`HITL_TEST_REDIS_SERVER=/path/to/valkey-server` runs all tests of Redis with one of them.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hitl_core.store import RedisStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.test_redis_contract import TestRedisStore
from tests.support.redis_server import FORGETFUL

NAMES = ["valkey-server", "valkey-server-8", "redis-server-7", "redis-server-8"]
SERVERS = [name for name in NAMES if shutil.which(name)] or NAMES[:1]


@pytest.fixture(scope="module", params=SERVERS)
def version(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedRedis]:
    name: str = request.param
    if (found := shutil.which(name)) is None:
        pytest.skip(f"no {name} on the PATH")
    folder = tmp_path_factory.mktemp(name)
    with EmbeddedRedis(folder, executable=Path(found), settings=FORGETFUL) as server:
        yield server


class TestOtherServers(TestRedisStore):
    @pytest.fixture
    async def store(self, version: EmbeddedRedis) -> AsyncIterator[RedisStore]:
        store = await RedisStore.open(version.url)
        await store._redis.flushall()
        yield store
        await store.close()


del TestRedisStore  # it is collected in its own module
