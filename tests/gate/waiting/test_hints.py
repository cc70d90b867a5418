"""A hint carries the review that a process waits for, so the process needs no load before its claim."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis

from hitl_core.gate import Gate, Outcome
from hitl_core.review import Reviews, claims
from hitl_core.store import Keys, MemoryStore
from tests.gate.conftest import Open
from tests.gate.outcomes import decide
from tests.gate.waiting.test_sharing import OTHER, scripts
from tests.support.builders import approve_all, call, policy
from tests.support.waiting import wait_until

REVIEWS = 40


async def submit_all(gate: Gate, name: str) -> list[str]:
    return [await gate.submit([call()], thread_id=f"{name}-{n}") for n in range(REVIEWS)]


async def approve_each(gate: Gate, review_ids: list[str]) -> None:
    for review_id in review_ids:
        await decide(gate, review_id, "1", "approve")


async def are_awaited(gate: Gate, review_ids: list[str]) -> bool:
    found = [await gate.reviews.load(review_id) for review_id in review_ids]
    return all(snapshot.review.waiting_process == gate.process for snapshot in found)


@pytest.mark.every_reply
async def test_a_process_that_waits_claims_with_one_script(open_gate: Open, redis_url: str):
    """Given as many reviews with and without a task that waits, then a wait adds one script, its claim."""
    gate = await open_gate(heartbeat_ttl=30.0)
    alone, awaited = await submit_all(gate, "alone"), await submit_all(gate, "awaited")
    waits = [asyncio.create_task(gate.wait(review_id)) for review_id in awaited]
    await wait_until("all wait", lambda: are_awaited(gate, awaited))

    start = scripts(redis_url)
    await approve_each(gate, alone)
    middle = scripts(redis_url)
    await approve_each(gate, awaited)
    outcomes = await asyncio.gather(*waits)

    assert [outcome.review_id for outcome in outcomes] == awaited
    assert (scripts(redis_url) - middle) - (middle - start) <= REVIEWS + OTHER


async def outcome_after(minutes: float) -> tuple[Outcome, float]:
    """The outcome that a process gets which hears of its review so much later; and the time by then."""
    now = [1_800_000_000.0]
    store = MemoryStore(clock=lambda: now[0])
    async with Gate(store, policy=policy(), agent="billing", lease=30.0) as gate:
        review_id = await gate.submit([call()], thread_id="t")
        wait = asyncio.create_task(gate.wait(review_id))
        await wait_until("it waits", lambda: are_awaited(gate, [review_id]))

        await approve_all(Reviews(store), review_id)
        now[0] += minutes * 60
        outcome = await wait
        await outcome.finish()
        return outcome, now[0]


async def test_a_hint_that_is_old_is_not_believed():
    """Given a process that was stopped before it read its hint, then its lease still begins at its claim."""
    outcome, now = await outcome_after(minutes=1)

    assert outcome.review.lease is not None
    assert outcome.review.lease.until == now + 30


def arguments_in_hints(url: str) -> int:
    """How many hints carry the argument of the test's call."""
    with redis.Redis.from_url(url) as client:
        hints: Any = client.xrange(Keys(0).agent("billing"))
    return sum(b"a secret" in value for _, fields in hints for value in fields.values())


async def test_a_hint_keeps_no_arguments_after_the_claim(open_gate: Open, redis_url: str):
    """A done review is deleted after its retention. Its arguments are not kept longer elsewhere."""
    gate = await open_gate()
    review_id = await gate.submit([call(text="a secret")], thread_id="t")
    await gate.reviews.change(
        review_id, "await", lambda r, now: claims.set_waiting_process(r, gate.process, now)
    )
    await approve_all(gate.reviews, review_id)
    before = arguments_in_hints(redis_url)

    outcome = await gate.wait(review_id)

    assert (before, arguments_in_hints(redis_url)) == (1, 0)
    await outcome.finish()
