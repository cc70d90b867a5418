"""One live claim a review, and each call at most once. With a gate, people who decide, and a real Redis."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from hitl_core.errors import LeaseLost
from hitl_core.gate import Gate, Outcome
from hitl_core.review import claims
from tests.gate.conftest import Open
from tests.gate.outcomes import approve, decide, ids
from tests.support.builders import approve_all, call, person
from tests.support.waiting import wait_until


async def test_promise_5_once_is_true_exactly_once(open_gate: Open):
    """T4: 50 calls at the same moment, on the claimed outcome and through other processes."""
    gates = [await open_gate() for _ in range(3)]
    outcome = await approve(gates[0], call(n=1))
    [ready] = outcome.execute
    others = [Outcome(outcome.review, gate.reviews, 30) for gate in gates[1:]]

    text = await asyncio.gather(*(o.once(ready) for o in [outcome, *others] for _ in range(17)))

    assert text.count(True) == 1
    assert await outcome.once(ready) is False
    for other in others:
        other.release()


async def test_promise_5_a_long_turn_may_start_all_at_once(gate: Gate):
    """A hundred calls that start together all start."""
    outcome = await approve(gate, *(call("look_up", f"c{n}", n=n) for n in range(100)))
    message = await asyncio.gather(*(outcome.once(ready) for ready in outcome.execute))
    assert message == [True] * 100
    await outcome.finish({ready.id: "ok" for ready in outcome.execute})


async def test_promise_5_two_waiters_one_claim(open_gate: Open):
    """Fault A7: given two processes that wait for one review, then one gets it, and the other its end."""
    one, two = await open_gate(), await open_gate()
    review_id = await one.submit([call(n=1)], thread_id="t")
    waiting = {asyncio.create_task(gate.wait(review_id)) for gate in (one, two, one, two)}
    await asyncio.sleep(0)
    await approve_all(one.reviews, review_id)

    done, rest = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    [winner] = [task.result() for task in done]
    assert ids(winner) == ["c1"]
    await winner.finish({"c1": "ok"})
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    assert (await two.wait(review_id)).execute == ()


async def test_a_second_waiter_gets_the_end_at_once(
    open_gate: Open, monkeypatch: pytest.MonkeyPatch
):
    """Given two processes that wait for one review and look only after a hint; when
    one has run it, then the other's wait ends."""
    monkeypatch.setattr("hitl_core.gate.waiting.lease.POLL_INTERVAL", 86_400.0)
    gates = [await open_gate(), await open_gate()]
    review_id = await gates[0].submit([call()], thread_id="t")
    waits = [asyncio.create_task(gate.wait(review_id)) for gate in gates]

    await decide(gates[0], review_id, "1", "approve")
    done, others = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    (first,) = done
    await (await first).finish()

    (second,) = others
    assert (await second).execute == ()


async def test_promise_5_a_dead_agents_review_is_taken_over(open_gate: Open):
    """Given a process that claimed and died before any once, then another runs it all."""
    dead, heir = await open_gate(lease=0.3), await open_gate(lease=5)
    outcome = await approve(dead, call(id="c1"), call(id="c2"))
    outcome.release()

    again = await asyncio.wait_for(heir.wait(outcome.review_id), 30)

    assert ids(again) == ["c1", "c2"]
    assert again.review.fence == 2
    assert await again.once(again.execute[0])


async def test_promise_5_a_zombie_changes_nothing(open_gate: Open):
    """Fault A6: stopped for longer than its lease, it finds that it lost the review."""
    zombie, heir = await open_gate(lease=0.3), await open_gate(lease=30)
    outcome = await approve(zombie, call(id="c1"), call(id="c2"))
    outcome.release()
    again = await asyncio.wait_for(heir.wait(outcome.review_id), 30)

    with pytest.raises(LeaseLost):
        await outcome.finish({"c1": "sent"})
    with pytest.raises(LeaseLost):
        await outcome.report({"c1": "sent"})
    with pytest.raises(LeaseLost):
        await outcome.once(outcome.execute[0])
    review = (await heir.reviews.load(outcome.review_id)).review
    assert (review.runs, review.status) == ({}, "claimed")
    await again.finish({"c1": "ok"})


@pytest.mark.parametrize(
    ("answer", "runs", "texts"),
    [
        ("ran", [], "`ask` ran; its result was lost. “Bo” (U_BO) confirmed it."),
        ("rerun", ["c1"], None),
        ("skip", [], "`ask` was skipped: whether it ran before is not known."),
    ],
)
async def test_promise_5_a_doubtful_call_is_asked_about(
    open_gate: Open, answer: Any, runs: list[str], texts: str | None
):
    """Faults A4 and A5: given a death between once and done, then nobody gets the review until a person
    answers."""
    dead, heir = await open_gate(lease=0.3), await open_gate(lease=5)
    outcome = await approve(dead, call(id="c1"), call("look_up", "c2"))
    assert await outcome.once(outcome.execute[0])
    outcome.release()
    waiting = asyncio.create_task(heir.wait(outcome.review_id))
    review_id = outcome.review_id

    async def load_doubts() -> Any:
        return (await heir.reviews.load(review_id)).review.calls_in_doubt

    [doubt] = await wait_until("the call is in doubt", load_doubts)
    assert (doubt.tool_call_id, waiting.done()) == ("c1", False)
    assert await heir.reviews.store.ready_reviews("billing") == []
    await heir.reviews.change(
        review_id, "r", lambda r, now: claims.resolve(r, "1", answer, person("Bo"), now)
    )

    again = await asyncio.wait_for(waiting, 30)
    assert ids(again) == [*runs, "c2"]
    assert again.idempotency_key(call(id="c1")) == outcome.idempotency_key(call(id="c1"))
    assert [a.content for a in again.answers] == ([texts] if texts else [])
    for ready in again.execute:
        assert await again.once(ready)


async def test_promise_5_an_idempotent_call_runs_again_with_the_same_key(open_gate: Open):
    """Nobody is asked; by the key the service behind the tool recognizes the same call."""
    dead, heir = await open_gate(lease=0.3), await open_gate(lease=5)
    outcome = await approve(dead, call("rerunnable", n=1))
    [ready] = outcome.execute
    assert await outcome.once(ready)
    outcome.release()

    again = await asyncio.wait_for(heir.wait(outcome.review_id), 30)

    assert again.execute == (ready,)
    assert again.idempotency_key(ready) == outcome.idempotency_key(ready)
    assert await again.once(ready)
    assert not await again.once(ready)


async def test_the_lease_is_renewed_while_the_outcome_lives_and_no_longer(open_gate: Open):
    """Given an outcome that is held, then it keeps its lease; given a dropped one, its lease ends."""
    gate = await open_gate(lease=0.6)
    outcome: Outcome | None = await approve(gate, call(n=1))
    assert outcome is not None
    review_id = outcome.review_id

    async def is_renewed() -> bool:
        return (await gate.reviews.load(review_id)).review.version > 4

    await wait_until("it was renewed twice", is_renewed)
    assert await gate.reviews.store.ready_reviews("billing") == []
    outcome = None
    gc.collect()

    async def free() -> bool:
        return await gate.reviews.store.ready_reviews("billing") == [review_id]

    await wait_until("its lease ended", free)


async def test_done_ends_the_renewal(open_gate: Open):
    """Nothing is written after the end."""
    gate = await open_gate(lease=0.15)
    outcome = await approve(gate, call(n=1))
    assert await outcome.once(outcome.execute[0])
    await outcome.finish({"c1": "ok"})
    version = (await gate.reviews.load(outcome.review_id)).review.version
    other = await approve(gate, call("ask", "c2"))

    async def is_renewed() -> bool:
        return (await gate.reviews.load(other.review_id)).review.version > 4

    await wait_until("another was renewed meanwhile", is_renewed)
    assert (await gate.reviews.load(outcome.review_id)).review.version == version
