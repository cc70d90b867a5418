"""Which turn a submit is: the same again, or another one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis

from hitl_core.errors import ReviewConflict
from hitl_core.gate import Gate
from tests.gate.conftest import Open
from tests.gate.outcomes import approve, status_of
from tests.support.builders import approve_all, call
from tests.support.jobs import finish_all


async def test_promise_4_submitting_again_finds_the_same_review(open_gate: Open):
    """After a crash, in another process: one review, one event for the bots."""
    one, two = await open_gate(), await open_gate()
    first_id = await one.submit([call(n=1)], thread_id="t")
    assert await two.submit([call(n=1)], thread_id="t") == first_id
    await approve_all(one.reviews, first_id)
    assert await two.submit([call(n=1)], thread_id="t") == first_id
    outcome = await one.wait(first_id)
    assert await two.submit([call(n=1)], thread_id="t") == first_id
    await outcome.finish()
    [job] = await finish_all(one.reviews.store)
    assert job.note == "3"  # submitted, decided, done


async def test_promise_4_many_copies_submit_one_review(open_gate: Open):
    """Fault A7: given twenty submits at the same moment by three processes, then there is one review."""
    gates = [await open_gate() for _ in range(3)]
    found = await asyncio.gather(
        *(gate.submit([call(n=1)], thread_id="t") for gate in gates for _ in range(7))
    )
    assert len(set(found)) == 1


async def test_the_same_ids_with_other_arguments_are_a_conflict(gate: Gate):
    """With a turn's name and without."""
    for turn in ("m1", None):
        await gate.submit([call(n=1)], thread_id="t", turn=turn)
        with pytest.raises(ReviewConflict, match="with other arguments"):
            await gate.submit([call(n=2)], thread_id="t", turn=turn)
        with pytest.raises(ReviewConflict, match="with other arguments"):
            await gate.submit([call("strict", n=1)], thread_id="t", turn=turn)


async def test_call_ids_are_used_again_in_the_next_turn(gate: Gate):
    """Without a turn's name the next review starts when the last of these ids is done."""
    seen: list[str] = []
    for n in range(12):
        outcome = await approve(gate, call(n=n))
        assert outcome.execute[0].args == {"n": n}
        assert await outcome.once(outcome.execute[0])
        await outcome.finish({"c1": f"result {n}"})
        seen.append(outcome.review_id)
    assert len(set(seen)) == 12


async def test_call_ids_are_used_again_in_a_named_turn(gate: Gate):
    """The name alone makes another review, at the same time as well; a done one stays done."""
    one = await gate.submit([call(n=1)], thread_id="t", turn="m1")
    two = await gate.submit([call(n=2)], thread_id="t", turn="m2")
    assert one != two
    await approve_all(gate.reviews, one)
    await (await gate.wait(one)).finish()
    assert await gate.submit([call(n=1)], thread_id="t", turn="m1") == one
    assert await status_of(gate, two) == "pending"


async def test_a_turn_is_found_again_when_the_first_ones_are_no_longer_kept(
    open_gate: Open, redis_url: str
):
    """Given a thread older than the retention, when a pending turn is submitted again, then it is that
    turn, and not a second review of it.
    """
    gate = await open_gate()
    early = [await approve(gate, call(n=n)) for n in range(1)]
    for n in range(1, 4):
        await early[-1].finish()
        early.append(await approve(gate, call(n=n)))
    await early[-1].finish()
    pending = await gate.submit([call(n=9)], thread_id="t-1")
    with redis.Redis.from_url(redis_url) as client:
        for outcome in early[:2]:
            client.delete(f"hitl:{{0}}:review:{outcome.review_id}")

    assert await gate.submit([call(n=9)], thread_id="t-1") == pending
    await gate.submit([call(n=9)], thread_id="t-1", turn="other")
    assert await gate.submit([call(n=9)], thread_id="t-1") == pending


@pytest.mark.parametrize(
    "other",
    [{"agent": "support"}, {"thread_id": "t-2"}, {"turn": "m2"}, {"calls": [call(id="c2", n=1)]}],
    ids=lambda value: next(iter(value)),
)
async def test_another_agent_thread_turn_or_id_is_another_review(
    open_gate: Open, other: dict[str, Any]
):
    """I2, T3: a decision for one never counts for another."""
    here = {"thread_id": "t-1", "turn": "m1", "calls": [call(n=1)]}
    gate = await open_gate()
    first_id = await gate.submit(**here)
    there = {**here, **other}
    elsewhere = await open_gate(agent=there.pop("agent", "billing"))
    second_id = await elsewhere.submit(**there)
    assert first_id != second_id
    await approve_all(gate.reviews, first_id)
    assert await status_of(gate, second_id) == "pending"


async def test_two_reviews_in_one_thread_are_distinct(gate: Gate):
    """Each is decided, taken and finished on its own."""
    one = await gate.submit([call(n=1)], thread_id="t", turn="m1")
    two = await gate.submit([call(n=2)], thread_id="t", turn="m2")
    await approve_all(gate.reviews, two)
    outcome = await gate.wait(two)
    assert outcome.execute[0].args == {"n": 2}
    assert await status_of(gate, one) == "pending"
    await outcome.finish()
    assert await gate.reviews.store.thread_ids("t") == [one, two]
