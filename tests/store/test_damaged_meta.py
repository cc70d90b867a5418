"""What all processes read at their start, damaged; and locks after the clock of Redis was set back."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis

from hitl_core.errors import SettingsError, StoreError
from hitl_core.review import claims
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from hitl_core.store.redis.keys import META_KEY, alive_key, lock_key
from hitl_core.store.redis.store import DEFAULT_RETENTION
from tests.store.steps import approved, created
from tests.support.waiting import wait_until

RUBBISH = ["", "abc", b"\xff{", "-1", "0", "1.5", "nan", "1e400"]


async def set_meta(url: str, field: str, value: Any) -> None:
    await (await RedisStore.open(url)).close()
    with redis.Redis.from_url(url) as client:
        client.hset(META_KEY, field, value)


@pytest.mark.parametrize("value", [*RUBBISH, "99999999"])
async def test_a_damaged_number_of_partitions_stops_the_start(redis_url: str, value: Any) -> None:
    """With another number no review would be found, and a very large one would keep a command busy."""
    await set_meta(redis_url, "partitions", value)
    with pytest.raises(StoreError, match="number of partitions in Redis can't be read"):
        await RedisStore.open(redis_url)
    with redis.Redis.from_url(redis_url) as client:
        client.hset(META_KEY, "partitions", 1)


@pytest.mark.parametrize("number", [-1, 0, 10_001])
async def test_no_number_of_partitions_is_stored_that_can_not_be_used(
    redis_url: str, number: int
) -> None:
    """It could never be changed."""
    with pytest.raises(SettingsError, match="from 1 to 10000"):
        await RedisStore.open(redis_url, partitions=number)
    with redis.Redis.from_url(redis_url) as client:
        assert not client.exists(META_KEY)


@pytest.mark.parametrize("value", [*(each for each in RUBBISH if each != "1.5"), "1e-9", "1e300"])
async def test_a_damaged_retention_is_the_default(redis_url: str, value: Any) -> None:
    """No review is deleted at once, and every write works: Redis refuses a very long expiry in the middle of
    a decision, which then has no entry in the audit."""
    await set_meta(redis_url, "retention", value)
    store = await RedisStore.open(redis_url)
    await approved(store, await created(store))
    assert store.ledger.retention == DEFAULT_RETENTION
    await store.close()


@pytest.mark.parametrize("seconds", [-1.0, 0.0, float("nan"), 1e9])
async def test_no_retention_is_stored_that_can_not_be_used(redis_url: str, seconds: float) -> None:
    with pytest.raises(SettingsError, match="from a millisecond to 10,000 days"):
        await RedisStore.open(redis_url, retention=seconds)
    with redis.Redis.from_url(redis_url) as client:
        assert not client.exists(META_KEY)


@pytest.mark.parametrize("noted", [b"\xff", b"{run_id}", b"{run_id} x", b"{run_id} 99999999999"])
async def test_no_agent_waits_longer_than_the_pause_after_a_restart(
    redis_url: str, noted: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a note of Redis's restart that is damaged, or in the future because its clock was set back; then
    a process that starts claims soon."""
    with redis.Redis.from_url(redis_url) as client:
        run_id = str(client.info("server")["run_id"]).encode()
    await set_meta(redis_url, "server", noted.replace(b"{run_id}", run_id))
    store = await RedisStore.open(redis_url)
    review = await approved(store, await created(store))
    later = time.monotonic() + 6
    monkeypatch.setattr(time, "monotonic", lambda: later)
    await Reviews(store).change(review.id, "op", lambda r, now: claims.claim(r, "p", now, 30))
    await store.close()


@pytest.mark.parametrize("ttl", [3600, None])
async def test_no_lock_lasts_longer_than_its_time(
    store: RedisStore, redis_url: str, ttl: int | None
) -> None:
    """Given a lock that ends in an hour, as after Redis's clock was set back, or never; then it is free again
    after its time: no bot told the operators of a problem meanwhile."""
    with redis.Redis.from_url(redis_url) as client:
        client.set(lock_key("notices"), "1", ex=ttl)

    async def is_free() -> bool:
        return await store.try_lock("notices", 0.05)

    assert not await is_free()
    await wait_until("it is free", is_free)


async def test_no_dead_process_is_alive_for_longer_than_its_time(
    store: RedisStore, redis_url: str
) -> None:
    """Given a heartbeat that ends in an hour, as after Redis's clock was set back; then its process counts as
    dead after the time that it had: nobody else got its reviews meanwhile."""
    await store.send_heartbeat("p1", 0.05)
    with redis.Redis.from_url(redis_url) as client:
        client.pexpire(alive_key("p1"), 3_600_000)

    async def is_dead() -> bool:
        return not await store.is_alive("p1")

    await wait_until("it is dead", is_dead)
