"""A process that waits for its review. With a gate, people who decide, and a real Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import redis

from hitl_core.errors import GateClosed, ReviewNotFound, StoreError
from hitl_core.gate import Gate
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.gate.conftest import Open, listeners
from tests.gate.outcomes import approve, first, ids, status_of
from tests.support.builders import approve_all, call, policy
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]


async def test_a_cancelled_wait_leaves_the_review_as_it_is(gate: Gate):
    """Fault A8: given a framework's timeout, then the review waits on, and can be waited for again."""
    review_id = await gate.submit([call(n=1)], thread_id="t")
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await gate.wait(review_id)
    assert await status_of(gate, review_id) == "pending"
    waiting = asyncio.create_task(gate.wait(review_id))
    await approve_all(gate.reviews, review_id)
    assert ids(await asyncio.wait_for(waiting, 30)) == ["c1"]


async def test_five_hundred_wait_over_a_handful_of_connections(open_gate: Open, redis_url: str):
    """A wait doesn't hold a connection. When all are decided, each gets its own outcome."""
    gate, people = await open_gate(), await open_gate()
    review_ids = [await gate.submit([call(n=n)], thread_id=f"t-{n}", turn="m") for n in range(500)]
    waiting = [asyncio.create_task(gate.wait(id)) for id in review_ids]
    with redis.Redis.from_url(redis_url) as client:

        async def all_wait() -> bool:
            last = [await people.reviews.load(id) for id in review_ids[-40:]]
            return all(s.review.waiting_process == gate.process for s in last)

        await wait_until("all wait", all_wait, 30)
        assert len(client.client_list()) < 80
        blocked: Any = client.info("clients")
        assert blocked["blocked_clients"] == 2  # one a process
    for start in range(0, 500, 50):
        await asyncio.gather(
            *(approve_all(people.reviews, id) for id in review_ids[start : start + 50])
        )
    outcomes = await asyncio.wait_for(asyncio.gather(*waiting), 60)
    assert [o.execute[0].args["n"] for o in outcomes] == list(range(500))
    for outcome in outcomes:
        outcome.release()


@pytest.mark.slow
async def test_promise_11_a_waiter_survives_the_death_of_redis(
    own_redis: OwnRedis, open_gate: Open
):
    """Fault R1: killed while it waits, and again just after the decision: nothing is lost."""
    server = own_redis()
    gate, people = await open_gate(server.url), await open_gate(server.url)
    review_id = await gate.submit([call(n=1)], thread_id="t")
    gate.reviews = Reviews(gate.reviews.store, retry_seconds=0.05)  # the outage is longer than that
    server.kill()
    waiting = asyncio.create_task(gate.wait(review_id))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(waiting), 0.5)
    server.start()
    await approve_all(people.reviews, review_id)
    server.kill()
    server.start()

    outcome = await asyncio.wait_for(waiting, 30)
    assert await outcome.once(outcome.execute[0])
    await outcome.finish({"c1": "ok"})
    assert await status_of(people, review_id) == "done"


async def test_a_wait_ends_when_its_gate_closes(open_gate: Open, redis_url: str):
    """Nothing waits without end on a closed gate, or on one that was never opened."""
    async with Gate.connect(redis_url, policy=policy(), agent="a") as gate:
        review_id = await gate.submit([call(n=1)], thread_id="t")
        waiting = asyncio.create_task(gate.wait(review_id))
        serving = asyncio.create_task(first(gate.outcomes()))
        await wait_until("it waits", lambda: gate._listener.is_watched(review_id))
        await wait_until("it listens", lambda: listeners(redis_url) == 1)
    for task in (waiting, serving):
        with pytest.raises(GateClosed):
            await asyncio.wait_for(task, 30)
    with pytest.raises(GateClosed, match="async with"):
        await Gate(MemoryStore(), policy=policy(), agent="a").wait(review_id)


async def test_work_during_the_close_of_a_gate_leaves_no_connection(redis_url: str):
    """Given an outcome that is renewed all the time, and waits in the middle of a command; then these get
    GateClosed, and the gate closes everything that it opened.
    """
    async with proxy_to(redis_url) as proxy:
        rules = policy()
        async with Gate.connect(proxy.url, policy=rules, agent="billing", lease=0.03) as gate:
            outcome = await approve(gate)
            open_id = await gate.submit([call(n=2)], thread_id="t-2")
            waiting = [asyncio.create_task(gate.wait(open_id)) for _ in range(5)]
            serving = asyncio.create_task(first(gate.outcomes()))
            await asyncio.sleep(0)
        for task in (*waiting, serving):
            with pytest.raises(GateClosed):
                await asyncio.wait_for(task, 30)
        with pytest.raises(StoreError, match="The store is closed"):
            await outcome.finish()
        await wait_until("no connection is left", lambda: not proxy.open)


async def test_what_nobody_submitted_is_not_found(gate: Gate):
    for unknown in ("0-" + "a" * 32, "nonsense", ""):
        with pytest.raises(ReviewNotFound):
            await gate.wait(unknown)
