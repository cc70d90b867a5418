"""Redis loses acknowledged writes: the loss is noticed, open reviews are held, and nothing runs twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import redis

from hitl_core import Gate, Outcome
from hitl_core.audit import seal
from hitl_core.errors import LeaseLost, Refused, StoreUnavailable
from hitl_core.review import Release, Reviews, unrecorded_starts
from hitl_core.store import HistoryCheck, RedisStore
from hitl_core.store.redis import server_change
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.builders import approve_all, call, person, policy
from tests.support.redis_servers.lost_writes import aof_size, lose_writes_since
from tests.support.waiting import wait_until

# A process that lost a reply doesn't know what Redis forgot, so it can't notice it.
pytestmark = pytest.mark.every_reply
OwnRedis = Callable[[], EmbeddedRedis]
POLICY = policy()
CALL = call("ask", "c1", n=1)


@asynccontextmanager
async def process(url: str) -> AsyncIterator[Gate]:
    """An agent in a process of its own: its memory is its own."""
    async with Gate.connect(url, policy=POLICY, agent="crm") as gate:
        yield gate


async def approved(gate: Gate, thread: str = "t") -> str:
    review_id = await gate.submit([CALL], thread_id=thread)
    await approve_all(gate.reviews, review_id)
    return review_id


async def started(gate: Gate, review_id: str) -> Outcome:
    outcome = await gate.wait(review_id)
    assert await outcome.once(outcome.execute[0])
    return outcome


async def wait_held(reviews: Reviews, count: int = 1) -> None:
    async def held() -> bool:
        try:
            return len(await reviews.store.held_reviews()) == count
        except StoreUnavailable:
            return False

    await wait_until("the loss is noticed", held, 30)


async def test_a_run_that_is_ahead_of_its_review_is_held(own_redis: OwnRedis) -> None:
    """Fault R2, T54: given that Redis lost the claim and the start of a call; then the agent's next write
    holds the review, no process may start it, and its release asks people whether it ran."""
    server = own_redis()
    async with process(server.url) as agent, process(server.url) as other:
        review_id = await approved(agent)
        before = aof_size(server)
        outcome = await started(agent, review_id)

        lose_writes_since(server, before)

        with pytest.raises((LeaseLost, Refused)):
            await outcome.report({"c1": "paid"})
        snapshot = await other.reviews.load(review_id)
        assert (snapshot.held, snapshot.review.status) == (True, "settled")
        assert unrecorded_starts(snapshot) == ("1",)
        with pytest.raises(Refused, match="store lost data"):
            await outcome.once(outcome.execute[0])
        assert await other.reviews.store.ready_reviews("crm") == []

        release = Release(review_id, person(), "op")
        after = (await other.reviews.apply(release)).review
        assert [each.key for each in after.calls_in_doubt] == ["1"]
        assert not (await other.reviews.load(review_id)).held


@pytest.mark.parametrize("end", ["finish", "report and release", "nothing"])
async def test_an_agent_that_lives_tells_what_it_ran_though_it_is_done_with_it(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """Given an agent that has run a call, and is done with the review, and a Redis that lost that; then the
    agent's heartbeat notes it on the held review: people are asked, and no other process runs it."""
    monkeypatch.setattr(server_change, "PAUSE", 0.5)
    server = own_redis()
    async with process(server.url) as agent, process(server.url) as other:
        review_id = await approved(agent)
        before = aof_size(server)
        outcome = await started(agent, review_id)
        if end == "finish":
            await outcome.finish({"c1": "paid"})
        if end == "report and release":
            await outcome.report({"c1": "paid"})
            outcome.release()

        lose_writes_since(server, before)

        await wait_held(other.reviews)
        await wait_noted(other.reviews, review_id)
        after = (await other.reviews.apply(Release(review_id, person(), "op"))).review
        assert [each.key for each in after.calls_in_doubt] == ["1"]
        assert await other.reviews.store.ready_reviews("crm") == []


async def test_a_review_that_cannot_be_read_keeps_no_other_from_its_note(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given two lost runs, and one of the reviews was written by a newer version; then the other is noted."""
    monkeypatch.setattr(server_change, "PAUSE", 0.5)
    server = own_redis()
    async with process(server.url) as agent, process(server.url) as other:
        one, two = await approved(agent, "one"), await approved(agent, "two")
        before = aof_size(server)
        outcomes = [await started(agent, each) for each in (one, two)]

        lose_writes_since(server, before)
        with redis.Redis.from_url(server.url) as client:
            client.hset(f"hitl:{{0}}:review:{two}", "data", '{"schema_version":99,}')

        await wait_held(other.reviews, 2)
        await wait_noted(other.reviews, one)
        del outcomes


async def wait_noted(reviews: Reviews, review_id: str) -> None:
    async def noted() -> bool:
        return unrecorded_starts(await reviews.load(review_id)) == ("1",)

    await wait_until("the agent notes what it has started", noted)


async def test_no_process_runs_a_call_before_others_could_say_that_it_ran(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T54: given two agents, of which one ran a call, and a Redis that lost that; then the other one does not
    get it, though the first writes nothing: its heartbeat compares what it has seen."""
    server = own_redis()
    async with process(server.url) as agent, process(server.url) as other:
        review_id = await approved(agent)
        before = aof_size(server)
        outcome = await started(agent, review_id)
        outcome.release()
        waiting = asyncio.create_task(other.wait(review_id))
        await asyncio.sleep(0)

        lose_writes_since(server, before)

        await wait_held(other.reviews)
        assert not waiting.done()
        waiting.cancel()


async def test_a_restart_without_loss_holds_nothing(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given kill -9 of a Redis that had synced all; then a claim waits for the check, and the review runs."""
    monkeypatch.setattr(server_change, "PAUSE", 0.5)
    server = own_redis()
    async with process(server.url) as agent:
        review_id = await approved(agent)
        server.kill()
        server.start()
        outcome = await asyncio.wait_for(agent.wait(review_id), 30)
        assert await outcome.once(outcome.execute[0])
        await outcome.finish({"c1": "paid"})
        assert await agent.reviews.store.held_reviews() == []


async def test_a_fresh_process_waits_after_a_restart_too(own_redis: OwnRedis) -> None:
    """Given a process that starts after Redis was restarted, and has seen nothing; then it claims nothing at
    first: an older process may know more."""
    server = own_redis()
    async with process(server.url) as agent:
        review_id = await approved(agent)
    server.kill()
    server.start()
    store = await RedisStore.open(server.url)
    try:
        with pytest.raises(StoreUnavailable, match="restarted or replaced"):
            await store._server_change.check(0)
        assert (await store.load(review_id)) is not None
    finally:
        await store.close()


async def test_new_reviews_go_on_after_a_loss(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what was open is held."""
    monkeypatch.setattr(server_change, "PAUSE", 0.5)
    server = own_redis()
    async with process(server.url) as agent:
        old = await agent.submit([CALL], thread_id="old")
        before = aof_size(server)
        await agent.submit([CALL], thread_id="lost")

        lose_writes_since(server, before)

        await wait_held(agent.reviews)
        with pytest.raises(Refused, match="store lost data"):
            await approve_all(agent.reviews, old)
        outcome = await asyncio.wait_for(agent.wait(await approved(agent, "new")), 30)
        assert await outcome.once(outcome.execute[0])


async def test_flushall_is_a_loss(own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given FLUSHALL after a call ran; when the same process gets the same turn approved again, then `once`
    says no."""
    server = own_redis()
    async with process(server.url) as agent:
        outcome = await started(agent, await approved(agent))
        outcome.release()
        with redis.Redis.from_url(server.url) as client:
            client.flushall()

        check = await agent.reviews.store.check_history()
        assert check == HistoryCheck(lost=True, held=0)
        again = await agent.wait(await approved(agent))

        assert await again.once(again.execute[0]) is False


async def test_an_old_backup_is_a_loss(own_redis: OwnRedis) -> None:
    """Given a Redis that was started with an older file, while an agent runs; then everything of it is
    held, and a second process adopts that."""
    server = own_redis()
    async with process(server.url) as agent, process(server.url) as other:
        one = await agent.submit([CALL], thread_id="one")
        backup = aof_size(server)
        for thread in ("two", "three", "four"):
            await approved(agent, thread)

        lose_writes_since(server, backup)

        await wait_held(other.reviews)
        await asyncio.gather(*(gate.reviews.store.check_history() for gate in (agent, other)))
        assert [each.id for each in await other.reviews.store.held_reviews()] == [one]


async def test_an_overtaken_loss_is_found(own_redis: OwnRedis) -> None:
    """Given that another process writes more after the restart than was lost; then it is still found."""
    server = own_redis()
    async with process(server.url) as other:
        store = await RedisStore.open(server.url)
        reviews = Reviews(store)
        old = await other.submit([CALL], thread_id="old")
        before = aof_size(server)
        await approve_all(reviews, old)
        other.reviews.store._seen.clear()  # type: ignore[attr-defined] - it has seen none of that

        lose_writes_since(server, before)
        for n in range(5):
            await other.submit([CALL], thread_id=f"more {n}")

        check = await store.check_history()
        assert check == HistoryCheck(lost=True, held=6)
        await store.close()


async def test_a_loss_is_found_though_all_earlier_entries_were_exported_and_deleted(
    own_redis: OwnRedis,
) -> None:
    """Given an audit without entries, as after a quiet month, and a loss after which another process writes
    first: a lost entry is before the new ones, as deleted ones are, so the lost decision was not noticed."""
    server = own_redis()
    async with process(server.url) as other:
        store = await RedisStore.open(server.url)
        old = await other.submit([CALL], thread_id="old")
        await seal(store)
        anchor = await store.ledger.last_anchor(0)
        assert anchor is not None
        await store.ledger.trim(0, anchor)
        assert await store.check_history() == HistoryCheck(lost=False, held=0)
        before = aof_size(server)
        await approve_all(Reviews(store), old)
        other.reviews.store._seen.clear()  # type: ignore[attr-defined] - it has seen none of that

        lose_writes_since(server, before)
        await other.submit([CALL], thread_id="more")

        assert await store.check_history() == HistoryCheck(lost=True, held=2)
        await store.close()
