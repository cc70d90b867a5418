"""What only Redis can show: ids, its clock, dead letters of several partitions, and its protocol."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

import pytest
import redis

from hitl_core.model import Event
from hitl_core.store.redis.connection import connect
from hitl_core.store.redis.queues import dead_letters
from tests.store.steps import HERE, OPS, audit_of, created, keys_of, open_store
from tests.support.jobs import begin_all, finish_all
from tests.support.redis_servers.proxy import proxy_to


async def test_an_id_can_not_be_guessed(redis_url: str):
    """T37: given 2,000 ids at random beside real ones; then each is answered alike, whatever is asked of it,
    and leaves no trace: an id is 128 bits of a hash."""
    async with open_store(redis_url) as store:
        real = [await created(store, thread_id=f"t-{n}") for n in range(3)]
        before = keys_of(redis_url)
        drawn = random.Random(37)
        ids = [f"0-{drawn.getrandbits(128):032x}" for _ in range(2000)]

        for start in range(0, len(ids), 100):
            some = ids[start : start + 100]
            assert set(await asyncio.gather(*(store.load(id) for id in some))) == {None}
        some = ids[:200]
        await asyncio.gather(*(store.record_event(id, refusal_of(id)) for id in some))
        assert set(await asyncio.gather(*(store.record_mark(id, "m") for id in some))) == {False}
        refs = await asyncio.gather(*(store.record_post(id, OPS, HERE) for id in some))
        assert refs == [HERE] * 200

        assert keys_of(redis_url) == before
        assert [entry["review_id"] for entry in await audit_of(store)] == [r.id for r in real]


def refusal_of(review_id: str) -> Event:
    return Event(kind="refused", review_id=review_id, at=0, what="not_allowed", op="1")


async def test_the_time_is_redis_own_whatever_the_clock_of_this_host(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """T73: Fault C1: given a host whose clock is ten days ahead; then a review is read at Redis's time."""
    day = 86_400.0
    async with open_store(redis_url) as store:
        review = await created(store)
        before = await store.now()
        host = time.time()
        monkeypatch.setattr(time, "time", lambda: host + 10 * day)

        assert abs(await store.now() - before) < day
        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert abs(snapshot.now - before) < day


async def test_dead_letters_come_back_a_few_at_a_time(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """Given more dead letters than one command reads; then all of them come back, each once, in their order,
    and what becomes a dead letter meanwhile does not keep the command busy."""
    monkeypatch.setattr(dead_letters, "PAGE_SIZE", 2)
    async with open_store(redis_url) as store:
        reviews = [await created(store, thread_id=f"t{n}") for n in range(5)]
        while jobs := await begin_all(store):
            for job in jobs:
                await store.move_to_dead_letters(job, "why")

        assert await store.requeue_dead_letters() == len(reviews) == 5
        assert (await store.count_dead_letters(), await store.dead_letters()) == (0, [])
        assert len(await finish_all(store)) == 5


async def test_dead_letters_are_counted_without_reading_them(redis_url: str):
    """For /readyz: each review once, in each partition, also while others bury and revive it."""
    async with open_store(redis_url, partitions=2) as one, open_store(redis_url) as two:
        reviews = [await created(one, thread_id=f"t-{n}") for n in range(12)]
        while jobs := await begin_all(one):
            await asyncio.gather(
                *(bot.move_to_dead_letters(job, "why") for job in jobs for bot in (one, two))
            )
        assert await one.count_dead_letters() == len(reviews)

        revived = await asyncio.gather(
            one.requeue_dead_letters(), two.requeue_dead_letters(), two.requeue_dead_letters()
        )

        assert (sum(revived), await one.count_dead_letters()) == (12, 0)
        assert len(await finish_all(one)) == 12
        assert not any("dead-counts" in key for key in keys_of(redis_url))


async def test_both_clients_speak_resp2(redis_url: str):
    """RESP3 answers scripts in other shapes; no retries: a command whose reply is lost ran once."""
    for blocking in (False, True):
        client = connect(redis_url, blocking=blocking)
        try:
            info: Any = await client.execute_command("HELLO")
            assert dict(zip(info[::2], info[1::2], strict=True))[b"proto"] == 2
        finally:
            await client.aclose()
    async with proxy_to(redis_url) as proxy:
        client = connect(proxy.url)
        await client.set("n", 0)
        proxy.drop_reply()
        with pytest.raises(redis.ConnectionError):
            await client.incr("n")
        assert await client.get("n") == b"1"
        await client.aclose()
