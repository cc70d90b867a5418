"""Servers and addresses that are refused, each with one sentence and without a password."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
import redis

from hitl_core.errors import SettingsError, StoreUnavailable
from hitl_core.store import RedisStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.steps import created, keys_of, open_store

OwnRedis = Callable[[], EmbeddedRedis]


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-random", "allkeys-lfu"])
async def test_a_server_that_may_drop_reviews_is_refused(own_redis: OwnRedis, policy: str):
    """T52: such a server silently dropped 38,168 of 60,000 pending reviews."""
    server = own_redis()
    with redis.Redis.from_url(server.url) as client:
        client.config_set("maxmemory-policy", policy)

    with pytest.raises(SettingsError, match=f"maxmemory-policy {policy}.*Set it to noeviction"):
        await RedisStore.open(server.url)


async def test_a_server_that_drops_only_what_ends_anyway_is_accepted(own_redis: OwnRedis):
    """Live keys have no TTL, so volatile-* never takes them."""
    server = own_redis()
    with redis.Redis.from_url(server.url) as client:
        client.config_set("maxmemory-policy", "volatile-lru")
    async with open_store(server.url) as store:
        await created(store)


async def test_the_number_of_partitions_is_fixed_at_the_first_start(redis_url: str):
    """Ids name their partition, so another number would lose sight of reviews."""
    async with open_store(redis_url, partitions=4):
        pass
    async with open_store(redis_url) as store:
        assert store.partitions == 4
    with pytest.raises(SettingsError, match="has 4 partitions, and the setting says 1"):
        await RedisStore.open(redis_url, partitions=1)
    async with open_store(redis_url, partitions=4):
        pass


async def test_who_only_looks_fixes_nothing(redis_url: str):
    """Given an empty Redis; then looking at it leaves it empty, and free for the first who needs it."""
    async with open_store(redis_url, set_partitions=False) as store:
        assert (store.partitions, await store.live_ids()) == (1, [])
    assert keys_of(redis_url) == set()
    async with open_store(redis_url, partitions=4):
        pass
    async with open_store(redis_url, set_partitions=False) as store:
        assert store.partitions == 4


async def test_an_old_server_is_refused():
    """6.2 is the floor. A server that says it is 6.0 gets one sentence."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            info = b"redis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\n"
            bulk = b"$%d\r\n%s\r\n" % (len(info), info)
            for command in data.split(b"*")[1:]:  # SETINFO is another one
                writer.write(bulk if b"$4\r\nINFO\r\n" in command else b"+OK\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        with pytest.raises(SettingsError, match=r"is 6\.0\.16; 6\.2 or later is needed"):
            await RedisStore.open(f"redis://127.0.0.1:{port}/0")
    finally:
        server.close()


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@127.0.0.1:1/0",
        "redis://ada:hunter2@127.0.0.1:1/0",
        "redis://127.0.0.1:1/0?password=hunter2",
        "redis://127.0.0.1:1/0?db=0&password=hunter2",
    ],
)
async def test_an_unreachable_redis_is_one_sentence_without_its_password(url: str):
    """It names the address; where that is from, its caller knows."""
    with pytest.raises(StoreUnavailable) as caught:
        await RedisStore.open(url)
    text = str(caught.value)
    assert "127.0.0.1:1" in text
    assert "\n" not in text
    assert_no_secret(caught.value, "hunter2")


@pytest.mark.parametrize(
    "url",
    ["http://:hunter2@host", ":hunter2@host", "redis://:hun/ter2@host:1", "redis://h:port", ""],
)
async def test_a_wrong_address_is_one_sentence_without_its_password(url: str):
    """What is no redis:// URL at all, also where the password was not escaped."""
    with pytest.raises(SettingsError) as caught:
        await RedisStore.open(url)
    assert "is not a redis:// URL" in str(caught.value)
    assert_no_secret(caught.value, "hun")


async def test_a_wrong_password_is_one_sentence_without_it(own_redis: OwnRedis):
    """Redis says WRONGPASS or NOAUTH; nobody says which password was tried."""
    server = own_redis()
    with redis.Redis.from_url(server.url) as client:
        client.config_set("requirepass", "right")
        for url in (server.url, server.url.replace("//", "//:hunter2@")):
            with pytest.raises(StoreUnavailable, match="can't be reached") as caught:
                await RedisStore.open(url)
            assert_no_secret(caught.value, "hunter2")
        client.config_set("requirepass", "")


def assert_no_secret(error: BaseException | None, secret: str) -> None:
    """Neither the error nor what it was raised from tells it."""
    while error is not None:
        assert secret not in f"{error!r} {error}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
