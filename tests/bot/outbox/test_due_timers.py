"""What is due is done, however much other work waits, and even if a part of it fails."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
import redis.asyncio

from bot.health import Health
from bot.outbox.due_timers import BATCH, CONCURRENCY, LONGEST_PAUSE, MAX_FAILURES, DueTimers
from hitl_core.errors import StoreError, StoreUnavailable
from hitl_core.model import Snapshot
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore, RedisStore
from tests.support.builders import call, policy, review_of
from tests.support.clock import Clock
from tests.support.waiting import wait_until

CHAIN = policy(
    soon={"escalate": [{"after": "10s", "to": "slack:#second"}], "notify": "slack:#first"},
)


class Broken(MemoryStore):
    """Some reviews can't be read."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.broken: set[str] = set()

    async def load(self, review_id: str) -> Snapshot | None:
        if review_id in self.broken:
            raise StoreUnavailable("not now")
        return await super().load(review_id)


async def _fill(count: int) -> tuple[Clock, Broken, Reviews, list[str]]:
    clock = Clock()
    store = Broken(clock)
    reviews = Reviews(store, retry_seconds=0.0)
    ids: list[str] = []
    for number in range(count):
        review, event = review_of([call("soon", n=number)], thread_id=f"t-{number}", by=CHAIN)
        await reviews.submit(review, event)
        ids.append(review.id)
    return clock, store, reviews, ids


async def test_nothing_is_done_before_it_is_due_and_then_all_of_it_once() -> None:
    clock, _, reviews, ids = await _fill(30)
    several = [DueTimers(reviews, Health()) for _ in range(3)]
    assert await several[0].tick() == 0
    clock.now += 10
    await asyncio.gather(*(each.tick() for each in several))
    taken = [(await reviews.load(one)).review.actions[0].escalations for one in ids]
    assert [len(each) for each in taken] == [1] * 30


async def test_broken_reviews_do_not_block_others() -> None:
    """Given more broken reviews at the front of the index than one look reads; then the others are done
    anyway."""
    clock, store, reviews, _ = await _fill(BATCH + 20)
    clock.now += 10
    store.broken = set(await store.due_reviews(BATCH))
    timers = DueTimers(reviews, Health())
    assert await timers.tick() == 0
    assert await timers.tick() == 20
    store.broken = set()
    assert await timers.tick() == BATCH


async def test_a_review_whose_timers_always_fail_is_told_and_blocks_nobody(redis_url: str) -> None:
    """Given a due review that can't be read, among others; then the others are done at once, it is a problem
    after five failures and tried seldom from then on, and when it can be read again it is done at once and no
    problem any more."""
    clock, health = Clock(), Health()
    store = await RedisStore.open(redis_url)
    try:
        reviews = Reviews(store, retry_seconds=0.0)
        ids: list[str] = []
        for number in range(3):
            now = await store.now()
            review, event = review_of(
                [call("soon", n=number)], thread_id=f"t-{number}", by=CHAIN, now=now - 60
            )
            await reviews.submit(review, event)
            ids.append(review.id)
        poison = f"hitl:{{0}}:review:{ids[0]}"
        async with redis.asyncio.Redis.from_url(redis_url) as client:
            data = cast(bytes, await client.hget(poison, "data"))
            await client.hset(poison, "data", "{")
            timers = DueTimers(reviews, health, clock=clock)

            assert await timers.tick() == 2
            for _ in range(MAX_FAILURES - 2):
                assert await timers.tick() == 0
            assert health.counts()["timer"] == 0
            assert await timers.tick() == 0
            assert health.counts()["timer"] == 1
            [problem] = health.current_problems()
            assert ids[0] == problem.subject

            await client.hset(poison, "data", data)
            assert await timers.tick() == 0, "it is not tried at every look"
            clock.now += LONGEST_PAUSE
            assert await timers.tick() == 1
            assert health.counts()["timer"] == 0
    finally:
        await store.close()


async def test_a_store_that_is_away_is_no_problem_of_each_review() -> None:
    clock, store, reviews, ids = await _fill(3)
    clock.now += 10
    store.broken, health = set(ids), Health()
    timers = DueTimers(reviews, health, clock=clock)
    for _ in range(2 * MAX_FAILURES):
        assert await timers.tick() == 0
    assert health.counts()["timer"] == 0
    store.broken = set()
    assert await timers.tick() == 3


class Counting(Broken):
    """Counts how many reviews are loaded at the same moment."""

    now_loading = most = 0

    async def load(self, review_id: str) -> Snapshot | None:
        self.now_loading += 1
        self.most = max(self.most, self.now_loading)
        await asyncio.sleep(0)
        self.now_loading -= 1
        return await super().load(review_id)


async def test_a_thousand_that_are_due_at_once_are_done_in_small_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fault K3, T59: given 1,000 reviews that are due at the same moment, and two bots; then each is
    escalated once, and never more than a few are worked on at the same time, so that clicks find a free
    moment."""
    monkeypatch.setattr("tests.bot.outbox.test_due_timers.Broken", Counting)
    clock, store, reviews, ids = await _fill(1000)
    assert isinstance(store, Counting)
    clock.now += 10
    bots = [DueTimers(reviews, Health()) for _ in range(2)]
    rounds = 0
    while any(await asyncio.gather(*(bot.tick() for bot in bots))):
        rounds += 1
    assert rounds == 1000 / BATCH
    assert store.most <= len(bots) * CONCURRENCY
    taken = [(await reviews.load(one)).review.actions[0].escalations for one in ids]
    assert [len(each) for each in taken] == [1] * 1000


async def test_that_the_index_can_not_be_read_is_told() -> None:
    """Given a Redis that refuses the index of what is due; then it is told, until it works."""

    class Refusing(MemoryStore):
        refuses = True

        async def due_reviews(self, limit: int = 100, missing: set[int] | None = None) -> list[str]:
            if self.refuses:
                raise StoreError("Redis refused.")
            return await super().due_reviews(limit, missing)

    store, health = Refusing(), Health()
    running = asyncio.create_task(DueTimers(Reviews(store), health, interval=0.01).run())
    await wait_until("it is told", health.current_problems)
    assert [problem.kind for problem in health.current_problems()] == ["timer"]
    store.refuses = False
    await wait_until("it is over", lambda: not health.current_problems())
    running.cancel()
