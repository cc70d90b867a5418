"""A guarded call ended without a result, and is made again in the same thread block."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hitl_core import Gate, Policy
from hitl_core.errors import Rejected
from hitl_core.model import Reviewer
from hitl_core.review import claims
from hitl_core.store import MemoryStore
from tests.support.builders import approve_all
from tests.support.waiting import wait_until

ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice Ng")


@pytest.fixture
async def gate() -> AsyncIterator[Gate]:
    policy = Policy.from_mapping({"default": "review"})
    async with Gate(MemoryStore(), policy=policy, agent="script", lease=0.5) as gate:
        yield gate


async def review_ids(gate: Gate) -> list[str]:
    return await gate.reviews.store.thread_ids("t-1")


async def test_a_call_that_timed_out_and_is_made_again_is_one_review(gate: Gate) -> None:
    """Given a guarded call that its caller stopped waiting for, when it makes the same call again, then
    people are asked once, and it runs once."""
    ran: list[str] = []

    @gate.guard
    async def pay(invoice: str) -> None:
        ran.append(invoice)

    with gate.thread("t-1"):
        waiting = asyncio.create_task(pay("R17"))
        await wait_until("it is submitted", lambda: review_ids(gate))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        again = asyncio.create_task(pay("R17"))
        [review_id] = await review_ids(gate)
        await approve_all(gate.reviews, review_id)
        async with asyncio.timeout(20):
            await again
    assert (await review_ids(gate), ran) == ([review_id], ["R17"])


async def test_a_call_that_was_cancelled_while_it_ran_is_in_doubt_when_it_is_made_again(
    gate: Gate,
) -> None:
    """Given a guarded call that was cancelled while its function ran, when the same call is made again, then
    a person is asked whether it ran, and nobody is asked to approve a second one."""
    started = asyncio.Event()

    @gate.guard
    async def pay(invoice: str) -> None:
        started.set()
        await asyncio.Event().wait()

    with gate.thread("t-1"):
        waiting = asyncio.create_task(pay("R17"))
        [review_id] = await wait_until("it is submitted", lambda: review_ids(gate))
        await approve_all(gate.reviews, review_id)
        await started.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        again = asyncio.create_task(pay("R17"))

        async def is_in_doubt() -> bool:
            await gate.reviews.apply_due(review_id)
            return bool((await gate.reviews.load(review_id)).review.calls_in_doubt)

        await wait_until("a person is asked", is_in_doubt)
        assert await review_ids(gate) == [review_id]
        await gate.reviews.change(
            review_id, "op-ran", lambda review, now: claims.resolve(review, "1", "ran", ALICE, now)
        )
        async with asyncio.timeout(20):
            assert "its result was lost" in str(await again)


async def test_the_same_call_made_twice_is_two_reviews(gate: Gate) -> None:
    """Given two calls that run to their end, also side by side, then each has a review of its own."""
    ran: list[str] = []

    @gate.guard
    async def pay(invoice: str) -> None:
        ran.append(invoice)

    async def approve(count: int) -> None:
        async def are_there() -> bool:
            return len(await review_ids(gate)) == count

        await wait_until("they are submitted", are_there)
        for review_id in await review_ids(gate):
            if (await gate.reviews.load(review_id)).review.status == "pending":
                await approve_all(gate.reviews, review_id)

    with gate.thread("t-1"):
        await asyncio.gather(pay("R17"), pay("R17"), approve(2))
        await asyncio.gather(pay("R17"), approve(3))
    assert ran == ["R17"] * 3


async def test_two_equal_calls_in_two_blocks_of_a_thread_have_one_result(gate: Gate) -> None:
    """Given two blocks of one thread that make the same call at once, then people are asked once, it runs
    once, and the other caller gets an error, not a text in place of the function's value."""
    ran: list[str] = []

    @gate.guard
    async def pay(invoice: str) -> int:
        ran.append(invoice)
        return 17

    async def script() -> int:
        with gate.thread("t-1"):
            return await pay("R17")

    scripts = [asyncio.create_task(script()) for _ in range(2)]
    await wait_until("it is submitted", lambda: review_ids(gate))
    [review_id] = await review_ids(gate)
    await approve_all(gate.reviews, review_id)
    async with asyncio.timeout(20):
        values = await asyncio.gather(*scripts, return_exceptions=True)
    [error] = [each for each in values if each != 17]
    assert isinstance(error, Rejected)
    assert "only that call's caller has the result. Result of `pay`: 17" in str(error)
    assert ran == ["R17"]
