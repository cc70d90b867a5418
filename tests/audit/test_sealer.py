"""Each anchor is added once, even if several bots seal. No entry is deleted before it was exported."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import cast

import pytest
import redis

from bot.health import Health, report_sealing
from hitl_core.audit import sealer
from hitl_core.audit.entry import Anchor, parse_position
from hitl_core.audit.export import export_lines
from hitl_core.audit.sealer import Sealer, seal, trim
from hitl_core.audit.verify import BrokenChain
from hitl_core.errors import StoreUnavailable
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore, RedisStore, Store
from hitl_core.store.redis.keys import Keys
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.audit.histories import HERE, OPS, export, submit, verify
from tests.support.builders import approve_all
from tests.support.clock import Clock
from tests.support.waiting import wait_until


@pytest.fixture
async def replicas(redis_url: str) -> AsyncIterator[list[RedisStore]]:
    """Three of one Redis with two partitions, which forgets what is older than a day."""
    stores = [await RedisStore.open(redis_url, partitions=2, retention=86_400) for _ in range(3)]
    yield stores
    for store in stores:
        await store.close()


async def write_history(store: Store, reviews: int) -> None:
    """So many reviews, each submitted, posted and decided."""
    service = Reviews(store)
    for number in range(reviews):
        id = await submit(service, f"t-{number}")
        await store.record_post(id, OPS, HERE)
        await approve_all(service, id)


async def test_several_bots_seal_everything_once(
    replicas: list[RedisStore], monkeypatch: pytest.MonkeyPatch
):
    """Given three replicas that seal while reviews are decided; then the anchors cover every entry once."""
    monkeypatch.setattr(sealer, "MAX_RANGE", 4)
    living = asyncio.create_task(write_history(replicas[0], 30))
    while not living.done():
        await asyncio.gather(*map(seal, replicas))
    await living

    found = verify(await export(replicas[1]))
    assert (found.entries, found.subjects, len(found.last_anchors)) == (90, 30, 2)
    assert found.anchors >= 90 / 4


async def test_an_anchor_whose_answer_was_lost_is_added_once(replicas: list[RedisStore]):
    """Said again it is there; another one in its place is refused."""
    ledger = replicas[0].ledger
    first = Anchor.from_entries([("0:5-0", "aa"), ("0:6-0", "bb")], "")
    assert await ledger.add_anchor(0, first)
    assert await ledger.add_anchor(0, first)
    assert not await ledger.add_anchor(
        0, Anchor.from_entries([("0:5-0", "aa"), ("0:7-0", "cc")], "")
    )
    assert await ledger.anchors(0) == [first]
    assert await ledger.last_anchor(0) == first
    assert await ledger.last_anchor(1) is None


async def test_nothing_is_forgotten_before_it_was_exported():
    """Given entries as old as you like; then they stay until they were exported, and go when they are older
    than the retention; what stays can be verified, and follows what was exported.
    """
    clock = Clock()
    store = MemoryStore(clock)
    store.ledger.retention = 100.0
    await write_history(store, 2)
    before = await export(store)
    end = json.loads(before[-1])
    clock.now += 1000
    await write_history(store, 1)
    await trim(store, 0)
    await seal(store)
    assert len(await store.ledger.entries(0)) == 9

    await store.ledger.mark_exported(0, Anchor.model_validate(end))
    clock.now += 50
    await trim(store, 0)
    await seal(store)
    after = await export(store)

    assert [json.loads(line)["n"] for line in after[1:-1]] == [1, 2, 3]
    assert verify(after, ((end["to"], end["root"]),)).entries == 3
    clock.now += 1000
    await trim(store, 0)
    assert len(await store.ledger.entries(0)) == 3, "they are old, and no export has them"
    clock.now -= 1000
    await store.ledger.mark_exported(0, Anchor.model_validate(json.loads(after[-1])))
    clock.now += 49
    await trim(store, 0)
    await seal(store)
    assert len(await store.ledger.entries(0)) == 3
    clock.now += 2
    await trim(store, 0)
    await seal(store)
    assert await store.ledger.entries(0) == []
    assert [[*json.loads(line)] for line in await export(store)] == [["follows"]]
    await write_history(store, 1)
    assert verify(await export(store)).entries == 3


async def test_redis_forgets_the_same(replicas: list[RedisStore], redis_url: str):
    """Up to the anchor, which stays, as the next one follows it. What was exported never goes back."""
    store = replicas[0]
    await write_history(store, 6)
    await seal(store)
    await write_history(store, 6)
    lines = await export(store)
    anchors = {p: await store.ledger.anchors(p) for p in range(2)}
    for partition, [first, second] in anchors.items():
        for each in (first, second, first):
            await store.ledger.mark_exported(partition, each)
        assert await store.ledger.last_export(partition) == second
    for partition in range(store.partitions):
        await trim(store, partition)
    assert await export(store) == lines, "none of it is a day old"

    for partition, [first, second] in anchors.items():
        await store.ledger.trim(partition, first)
        assert await store.ledger.anchors(partition) == [first, second]
        left = await store.ledger.entries(partition)
        assert len(left) == second.count
        assert parse_position(left[0].id) > parse_position(first.last)
    known = tuple((first.last, first.root) for first, _ in anchors.values())
    assert verify(await export(store), known).entries == 18
    with redis.Redis.from_url(redis_url) as client:
        assert client.xlen(Keys(0).anchors) == 2

    one = [line async for line, _ in export_lines(store.ledger, 0, anchors[0][0].last)]
    assert len(one) == 1 + anchors[0][1].count + 1
    assert len([line async for line, _ in export_lines(store.ledger, 0, anchors[0][1].last)]) == 1


async def test_a_range_that_lost_entries_is_told(replicas: list[RedisStore], redis_url: str):
    """Given somebody who deletes an entry in Redis itself, or writes one; then the export says so."""
    store = replicas[0]
    await write_history(store, 4)
    await export(store)
    with redis.Redis.from_url(redis_url) as client:
        for partition in range(2):
            entries = await store.ledger.entries(partition)
            if entries:
                client.xdel(Keys(partition).audit, entries[-1].id.partition(":")[2])
                break
    with pytest.raises(BrokenChain, match="are here"):
        verify(await export(store))


async def test_the_sealer_goes_on_after_an_outage(
    own_redis: Callable[[], EmbeddedRedis], caplog: pytest.LogCaptureFixture
):
    """Given a Redis that is away for a while; then the sealer says so, and seals when it is back."""
    server = own_redis()
    store = await RedisStore.open(server.url)
    await write_history(store, 1)
    server.stop()
    running = asyncio.create_task(Sealer(store, interval=0.01).run())
    await wait_until("it says so", lambda: "The audit could not be sealed" in caplog.text)
    server.start()

    async def is_sealed() -> bool:
        try:
            return await store.ledger.last_anchor(0) is not None
        except StoreUnavailable:
            return False

    await wait_until("it is sealed", is_sealed)
    running.cancel()
    await store.close()


@pytest.mark.parametrize("damage", [b"x", b"[]", b'{"from":"0:1-1","to":"0:1-1","count":-1}'])
async def test_a_damaged_anchor_stops_no_sealer_and_is_told(
    replicas: list[RedisStore], redis_url: str, damage: bytes
):
    """Given a last anchor of one partition that can't be read; then the sealer says so, to the operators as
    well, seals the other partition, and goes on when the damage is mended.
    """
    store, health = replicas[0], Health()
    await write_history(store, 4)
    await export(store)
    key, first = Keys(0).anchors, await store.ledger.last_anchor(0)
    assert first is not None
    with redis.Redis.from_url(redis_url) as client:
        saved = cast(bytes, client.dump(key))
        client.xadd(key, {"anchor": damage})
        await write_history(store, 8)
        expected = (await store.ledger.entries(1))[-1].id
        running = asyncio.create_task(
            Sealer(store, partial(report_sealing, health), interval=0.01).run()
        )

        async def is_other_sealed() -> bool:
            last = await store.ledger.last_anchor(1)
            return last is not None and last.last == expected

        await wait_until("the other partition is sealed", is_other_sealed)
        await wait_until("it is told", lambda: bool(health.current_problems()))
        [problem] = health.current_problems()
        assert (problem.kind, problem.subject) == ("store", "audit")
        assert "it was changed, or is damaged" in problem.text
        client.restore(key, 0, saved, replace=True)
        await wait_until("it is over", lambda: not health.current_problems())
    running.cancel()
