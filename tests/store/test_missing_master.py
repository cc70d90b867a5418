"""A Redis Cluster with a master that gives no answer, before a replica takes over: what the other masters
hold goes on, and what the missing one holds waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from redis.crc import key_slot

from hitl_core import Gate, ToolCall
from hitl_core.errors import StoreUnavailable
from hitl_core.store import RedisStore
from hitl_core.store.redis import server_change
from hitl_core.store.redis.connection import client
from hitl_core.store.redis.keys import lane_key
from tests.support.builders import approve_all, policy
from tests.support.redis_servers.cluster import RedisCluster
from tests.support.redis_servers.missing_master import (
    CALLS,
    LOSSES,
    THREADS,
    LosableMaster,
    key_of,
    losable_master,
    partition_of,
)
from tests.support.redis_servers.nodes import connect

#: A process that is held up can't end a test by its own timers.
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(params=LOSSES)
async def setting(
    cluster_url: str,
    redis_cluster: RedisCluster,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[LosableMaster]:
    monkeypatch.setattr(client, "COMMAND_TIMEOUT", 2.0)
    async with losable_master(redis_cluster, request.param) as setting:
        yield setting


async def test_reviews_of_other_masters_are_decided_claimed_and_run(setting: LosableMaster) -> None:
    """Given an agent that met the missing master; then it claims and runs what is decided elsewhere."""
    gate, reviews = setting.gate, setting.gate.reviews
    setting.lose()
    with pytest.raises(StoreUnavailable):
        await setting.store.load(setting.lost[0])
    with pytest.raises(StoreUnavailable):
        await gate.reviews.load(setting.lost[0])

    for review_id in setting.whole[:2]:
        await approve_all(reviews, review_id)
        outcome = await asyncio.wait_for(gate.wait(review_id), 30)
        assert await outcome.once(outcome.execute[0])
        await outcome.finish({"c1": "sent"})
    await approve_all(reviews, setting.whole[2])
    outcomes = gate.outcomes()
    found = await asyncio.wait_for(anext(outcomes), 30)
    assert found.review_id == setting.whole[2]
    await outcomes.aclose()


async def test_a_turn_of_another_master_is_submitted(setting: LosableMaster) -> None:
    """Given a thread with an open turn, so that the turn's number is looked up."""
    thread = next(name for name, one in setting.ids.items() if one in setting.whole)
    setting.lose()
    review_id = await setting.gate.submit([ToolCall("c2", "ask", {"n": 2})], thread_id=thread)
    assert review_id not in setting.ids.values()
    again = await setting.gate.submit([ToolCall("c2", "ask", {"n": 2})], thread_id=thread)
    assert again == review_id


async def test_lists_have_what_the_other_masters_hold_and_say_what_is_missing(
    setting: LosableMaster,
) -> None:
    store, whole, missing = setting.store, set(setting.whole), set[int]()
    setting.lose()
    for _ in range(2):  # the second time nobody waits for the missing master
        assert {one.id for one in await store.live_reviews(missing=missing)} == whole
        assert setting.missing == missing
        missing.clear()
        assert await store.lanes(missing=missing) == ["default"]
        assert setting.missing == missing
        assert (await store.workload(missing)).live == len(whole)
        assert (await store.backlog(missing)).waiting == len(whole)
        assert await store.due_reviews(missing=missing) == []
        assert await store.ready_reviews("billing", missing=missing) == []
        assert (await store.waiting_reviews(["user:U1"], missing=missing)).total == 0
        assert await store.recent_decisions("slack:T1:U1", missing=missing) == []
        assert await store.held_reviews(missing=missing) == []
        assert await store.foreign_keys(missing) == []
        assert await store.count_dead_letters(missing) == 0
        assert await store.requeue_dead_letters(missing) == 0
        check = await store.check_history()
        assert (check.lost, check.held) == (False, 0)
        assert check.missing == len(setting.missing)


async def test_a_list_that_may_miss_nothing_fails(setting: LosableMaster) -> None:
    """Unknown is not nothing: without `missing` a caller gets an error."""
    setting.lose()
    with pytest.raises(StoreUnavailable):
        await setting.store.live_reviews()
    with pytest.raises(StoreUnavailable):
        await setting.store.waiting_reviews(["user:U1"])
    with pytest.raises(StoreUnavailable):
        await setting.store.dead_letters()


async def test_a_start_names_the_master_that_is_missing(setting: LosableMaster) -> None:
    """It said that the whole cluster can't be reached."""
    setting.lose()
    host = setting.master.url.removeprefix("redis://").removesuffix("/0")
    for writes in (True, False):  # a bot, and `hitl`
        with pytest.raises(
            StoreUnavailable, match=rf"lacks 1 of its 3 masters.*\({host}: Redis can't be"
        ):
            await RedisStore.open(setting.cluster.url, set_partitions=writes)


async def test_cards_of_other_masters_are_taken(setting: LosableMaster) -> None:
    setting.lose()
    taken = set[str]()
    while job := await setting.store.take_job("default", "post"):
        taken.add(job.review_id)
        await setting.store.finish_job(job)
    assert taken == set(setting.whole)


async def test_a_lane_whose_holder_is_unknown_keeps_no_other_lane_from_its_renewal(
    setting: LosableMaster,
) -> None:
    lanes = ["default", *(f"slack:C{n}" for n in range(12))]
    lost = {lane for lane in lanes if setting.has(lane_key(lane))}
    unknown = set[str]()
    setting.lose()
    with pytest.raises(StoreUnavailable):
        await setting.store.hold_lanes(lanes, "bot", 8)
    assert await setting.store.hold_lanes(lanes, "bot", 8, unknown) == {*lanes} - lost
    assert unknown == lost


async def test_hints_of_other_masters_come(setting: LosableMaster) -> None:
    """Given a reader whose connections to the missing master were lost."""
    store = setting.store
    assert await store.changes(0) == []
    setting.lose()
    await approve_all(setting.gate.reviews, setting.whole[0])
    hints = list[str]()
    async with asyncio.timeout(30):
        while setting.whole[0] not in hints:
            hints += await store.changes(1)


async def test_what_the_missing_master_holds_goes_on_when_it_or_its_replica_answers(
    setting: LosableMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_change, "PAUSE", 0.5)
    store, missing = setting.store, set[int]()
    setting.lose()
    assert await store.live_reviews(missing=missing)
    setting.bring_back()
    async with asyncio.timeout(60):
        while len(await store.live_reviews(missing=missing)) < len(THREADS):
            await asyncio.sleep(0.1)
        await until_stored(lambda: approve_all(setting.gate.reviews, setting.lost[0]))
        outcome = await setting.gate.wait(setting.lost[0])
    assert outcome.review_id == setting.lost[0]


async def until_stored(work: Callable[[], Awaitable[object]]) -> None:
    while True:
        try:
            await work()
            return
        except StoreUnavailable:
            await asyncio.sleep(0.1)


async def test_what_is_missing_is_known_without_another_read(setting: LosableMaster) -> None:
    assert await setting.store.missing_partitions() == set()
    setting.lose()
    assert await setting.store.missing_partitions() == set()
    with pytest.raises(StoreUnavailable):
        await setting.store.load(setting.lost[0])
    assert await setting.store.missing_partitions() == setting.missing


@pytest.mark.redis
async def test_a_slot_that_no_master_has_is_missing_and_keeps_no_other_from_anything(
    tmp_path: Path,
) -> None:
    """Given a Cluster from which a dead master was removed for good."""
    with RedisCluster(tmp_path, replicas=0) as cluster:
        async with Gate.connect(cluster.url, policy=policy(), agent="billing") as gate:
            store = gate.reviews.store
            ids = {await gate.submit(CALLS, thread_id=one) for one in THREADS}
            lost = next(iter(ids))
            slot = key_slot(key_of(lost).encode())
            for node in cluster.nodes:
                with connect(node) as client:
                    client.execute_command("CLUSTER", "DELSLOTS", slot)
            with pytest.raises(StoreUnavailable):
                await store.load(lost)

            missing = set[int]()
            found = {one.id for one in await store.live_reviews(missing=missing)}
            assert missing == await store.missing_partitions() == {partition_of(lost)}
            assert found == {one for one in ids if partition_of(one) not in missing}
            assert found
