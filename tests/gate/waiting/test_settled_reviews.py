"""Reviews that no process waits for any more. With a gate, people who decide, and a real Redis."""

from __future__ import annotations

import asyncio

import redis

from hitl_core.review import claims
from tests.gate.conftest import Open
from tests.gate.outcomes import first, ids, status_of
from tests.support.builders import approve_all, call
from tests.support.waiting import wait_until


async def test_settled_yields_reviews_that_nobody_waits_for(open_gate: Open):
    """Submitted by a process that has gone, decided now or before: both come, one after the other."""
    gone, worker = await open_gate(), await open_gate()
    before = await gone.submit([call("look_up", n=1)], thread_id="t", turn="m1")
    outcomes = worker.outcomes()
    one = await asyncio.wait_for(first(outcomes), 30)
    later = await gone.submit([call(n=1)], thread_id="t", turn="m2")
    waiting = asyncio.create_task(first(outcomes))
    await approve_all(gone.reviews, later)
    two = await asyncio.wait_for(waiting, 30)
    assert (one.review_id, two.review_id) == (before, later)
    assert two.turn == "m2"
    await outcomes.aclose()


async def test_settled_skips_reviews_that_a_living_process_waits_for(open_gate: Open):
    """Promise 5: after the waiter's last beat has ended, the worker gets it."""
    dead = await open_gate(heartbeat_ttl=30.0)
    worker = await open_gate(heartbeat_ttl=0.3)
    review_id = await dead.submit([call(n=1)], thread_id="t")
    # As a process dies: nobody waits there any more, but its last beat is still good.
    await worker.reviews.change(
        review_id, "await", lambda r, now: claims.set_waiting_process(r, dead.process, now)
    )
    await approve_all(worker.reviews, review_id)
    outcomes = worker.outcomes()
    serving = asyncio.create_task(first(outcomes))
    other = await worker.submit([call("look_up", "c2")], thread_id="t-2")
    assert (await asyncio.wait_for(asyncio.shield(serving), 30)).review_id == other
    assert await status_of(worker, review_id) == "settled"

    await worker.reviews.store.send_heartbeat(dead.process, 0.01)  # its last

    assert (await asyncio.wait_for(first(outcomes), 30)).review_id == review_id
    await outcomes.aclose()


async def test_promise_5_a_cancelled_wait_leaves_the_review_to_others(open_gate: Open):
    """Given a wait that was cancelled in a process that lives on, then a worker gets the review."""
    impatient, worker = await open_gate(heartbeat_ttl=30.0), await open_gate(heartbeat_ttl=0.3)
    review_id = await impatient.submit([call(n=1)], thread_id="t")
    waiting = asyncio.create_task(impatient.wait(review_id))

    async def waiter() -> str | None:
        return (await worker.reviews.load(review_id)).review.waiting_process

    async def is_waited_for() -> bool:
        return await waiter() == impatient.process

    await wait_until("it waits", is_waited_for)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    await approve_all(worker.reviews, review_id)
    outcomes = worker.outcomes()
    assert (await asyncio.wait_for(first(outcomes), 30)).review_id == review_id
    await outcomes.aclose()


async def test_review_and_settled_in_one_process_do_not_take_from_each_other(open_gate: Open):
    """Given a process that serves and asks, then the outcome goes to the code that asked."""
    gate = await open_gate()
    served: list[str] = []

    async def serve() -> None:
        async for outcome in gate.outcomes():
            served.append(outcome.review_id)

    serving = asyncio.create_task(serve())
    await asyncio.sleep(0)
    names = ["look_up", "ask"] * 30
    asking = [
        asyncio.create_task(gate.review([call(name, n=1)], thread_id=f"t-{n}"))
        for n, name in enumerate(names)
    ]
    people = await open_gate(agent="people")
    for n in range(1, 60, 2):

        async def list_reviews(thread_id: str = f"t-{n}") -> list[str]:
            return await people.reviews.store.thread_ids(thread_id)

        [review_id] = await wait_until("it is submitted", list_reviews)
        await approve_all(people.reviews, review_id)
    asked = await asyncio.wait_for(asyncio.gather(*asking), 20)
    assert len({outcome.review_id for outcome in asked}) == 60
    assert all(ids(outcome) == ["c1"] for outcome in asked)
    assert served == []
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def test_settled_skips_reviews_that_its_own_process_waits_for(open_gate: Open):
    """Given a review that is ready and watched, then it comes only when nobody watches it any more."""
    gate = await open_gate(heartbeat_ttl=0.3)
    watched = await gate.submit([call("look_up", n=1)], thread_id="t-1")
    other = await gate.submit([call("look_up", n=1)], thread_id="t-2")
    outcomes = gate.outcomes()
    with gate._listener.watch(watched):
        assert (await asyncio.wait_for(first(outcomes), 30)).review_id == other
    assert (await asyncio.wait_for(first(outcomes), 30)).review_id == watched
    await outcomes.aclose()


async def test_settled_goes_on_past_a_review_that_cannot_be_read(open_gate: Open, redis_url: str):
    """A review of a newer version doesn't block the others."""
    gate = await open_gate()
    broken = await gate.submit([call("look_up", "c1")], thread_id="t-1")
    good = await gate.submit([call("look_up", "c2")], thread_id="t-2")
    with redis.Redis.from_url(redis_url) as client:
        client.hset(f"hitl:{{0}}:review:{broken}", "data", '{"schema_version": 2}')
    outcomes = gate.outcomes()
    assert (await asyncio.wait_for(first(outcomes), 30)).review_id == good
    await outcomes.aclose()


async def test_settled_serves_its_own_agent_only(open_gate: Open):
    billing, support = await open_gate(), await open_gate(agent="support")
    await billing.submit([call("look_up", "c1")], thread_id="t")
    mine = await support.submit([call("look_up", "c1")], thread_id="t")
    outcomes = support.outcomes()
    assert (await asyncio.wait_for(first(outcomes), 30)).review_id == mine
    await outcomes.aclose()
