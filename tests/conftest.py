"""Fixtures for all tests: a real Redis, the system's Chromium. It also sets the order of the tests."""

from __future__ import annotations

import gc
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
import redis

from hitl_core.store import RedisStore
from hitl_core.store.redis.connection import client, start_checks
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.redis_servers.cluster import RedisCluster
from tests.support.redis_servers.leaks import find_leaks_at
from tests.support.redis_servers.sentinels import RedisSentinels
from tests.support.redis_servers.server import durable_server, executable_under_test, session_server

pytest_plugins = ["pytester", "tests.support.ci_skips", "tests.support.redis_servers.lost_replies"]

# On a busy machine one slow example says nothing about the code; the same examples everywhere.
hypothesis.settings.register_profile("hitl", deadline=None, derandomize=True)
hypothesis.settings.load_profile("hitl")

#: Seconds for all examples of a property test. On a busy machine the usual limit is too short, and Hypothesis
#: takes the timeout for a failing example, tries it again, and reports a flaky strategy.
PROPERTY_TIMEOUT = 1200

# A busy machine's Redis answers late, too. A product's command ends after 1.5 s.
PRODUCT_COMMAND_TIMEOUT = client.COMMAND_TIMEOUT
client.COMMAND_TIMEOUT = 5.0
# The server of the session keeps nothing, on purpose.
start_checks.CHECK_DISK = False

MARK_OF_FIXTURE = {
    "redis_server": "redis",
    "own_redis": "redis",
    "redis_cluster": "redis",
    "redis_sentinels": "redis",
    "tls_redis": "redis",
    "chromium": "browser",
    "browser": "browser",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that use Redis or the browser. Fast tests run first, the browser's last."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if mark := MARK_OF_FIXTURE.get(fixture):
                item.add_marker(mark)
        if hypothesis.is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.timeout(PROPERTY_TIMEOUT))
    items.sort(
        key=lambda item: [bool(item.get_closest_marker(m)) for m in ("browser", "slow", "redis")]
    )


def pytest_collection_finish() -> None:
    """Tests and modules stay to the end: the garbage collector need not look at them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedRedis]:
    """One server for the whole session. Tests want `redis_url`; none may stop this one."""
    with session_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_url(redis_server: EmbeddedRedis) -> Iterator[str]:
    """The address of an empty Redis. Whatever the test does: no key may stay there without need."""
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    yield redis_server.url
    assert find_leaks_at(redis_server.url) == set()


@pytest.fixture(scope="session")
def redis_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    """One for the whole session. Tests want `cluster_url`; one that ends a node starts it again."""
    folder = tmp_path_factory.mktemp("redis-cluster")
    with RedisCluster(folder, executable=executable_under_test()) as cluster:
        yield cluster


@pytest.fixture
def cluster_url(redis_cluster: RedisCluster) -> str:
    """The address of an empty Redis Cluster."""
    redis_cluster.flush()
    return redis_cluster.url


@pytest.fixture(scope="session")
def redis_sentinels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisSentinels]:
    """As `redis_cluster`: a master, a replica and three Sentinels. Tests want `sentinel_url`."""
    folder = tmp_path_factory.mktemp("redis-sentinels")
    with RedisSentinels(folder, executable=executable_under_test()) as sentinels:
        yield sentinels


@pytest.fixture
def sentinel_url(redis_sentinels: RedisSentinels) -> str:
    redis_sentinels.flush()
    return redis_sentinels.url


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[RedisStore]:
    """A store on an empty Redis."""
    store = await RedisStore.open(redis_url)
    yield store
    await store.close()


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[Callable[[], EmbeddedRedis]]:
    """Starts servers of the test's own, durable, to `kill()`, `stop()` and `start()` again."""
    servers: list[EmbeddedRedis] = []

    def start() -> EmbeddedRedis:
        server = durable_server(tmp_path / f"redis-{len(servers)}")
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        leaks = find_leaks_at(server.url) if server.pid is not None else set[str]()
        server.stop()
        assert leaks == set()


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The system's Chromium, for Playwright's `executable_path`."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium on the PATH (Debian: apt install chromium)")
    return Path(found)
