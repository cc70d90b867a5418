"""A process keeps an outcome but has stopped working on it: other processes can take the review."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from hitl_core.errors import InvalidToolCall
from hitl_core.gate import Gate, blocking
from tests.gate.conftest import Open
from tests.support.builders import approve_all, call, policy
from tests.support.waiting import wait_until


async def stuck(**args: Any) -> None:
    await asyncio.Event().wait()


async def take(gate: Gate) -> str:
    async for outcome in gate.outcomes():
        return outcome.review_id
    raise AssertionError


async def wait_for_doubt(gate: Gate, review_id: str) -> None:
    async def is_in_doubt() -> bool:
        await gate.reviews.apply_due(review_id)  # as a bot does
        return bool((await gate.reviews.load(review_id)).review.calls_in_doubt)

    await wait_until("a person is asked", is_in_doubt)


async def test_a_run_that_is_cancelled_is_in_doubt_while_its_worker_waits(
    open_gate: Open,
) -> None:
    """Given a worker that gives up a call and waits for its next review, then a person is asked about it."""
    gate = await open_gate(lease=0.5, heartbeat_ttl=1.0)
    review_id = await gate.submit([call(n=1)], thread_id="t-1")
    await approve_all(gate.reviews, review_id)

    async def work() -> None:
        async for outcome in gate.outcomes():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(outcome.run({"ask": stuck}), 0.2)

    worker = asyncio.create_task(work())
    await wait_for_doubt(gate, review_id)
    worker.cancel()


async def test_an_outcome_that_nobody_keeps_comes_again(open_gate: Open) -> None:
    """Given a worker that keeps nothing of a review that it did not finish, then it gets it again."""
    gate = await open_gate(lease=0.5, heartbeat_ttl=1.0)
    review_id = await gate.submit([call(n=1)], thread_id="t-1")
    await approve_all(gate.reviews, review_id)
    taken: list[str] = []

    async def work() -> None:
        async for outcome in gate.outcomes():
            taken.append(outcome.review_id)
            del outcome

    worker = asyncio.create_task(work())

    async def is_taken_again() -> bool:
        await gate.reviews.apply_due(review_id)
        return taken == [review_id, review_id]

    await wait_until("it comes again", is_taken_again)
    worker.cancel()


@pytest.mark.parametrize("given", [InvalidToolCall, KeyboardInterrupt])
async def test_a_blocking_run_that_fails_renews_no_lease(
    open_gate: Open, redis_url: str, given: type[BaseException]
) -> None:
    """Given a script that keeps the outcome of a run that failed, then another process gets the review, or a
    person is asked."""
    gate = await open_gate(heartbeat_ttl=1.0)
    review_id = await gate.submit([call(n=1)], thread_id="t-1")
    await approve_all(gate.reviews, review_id)

    def interrupted(**args: Any) -> None:
        raise KeyboardInterrupt

    tools: dict[str, Callable[..., Any]] = {} if given is InvalidToolCall else {"ask": interrupted}
    kept: list[Any] = []

    def script(url: str) -> blocking.BlockingGate:
        opened = blocking.connect(url, policy=policy(), agent="billing", lease=0.5)
        kept.extend([opened, opened.__enter__()])
        kept.append(kept[1].wait(review_id))
        with pytest.raises(given):
            kept[2].run(tools)
        return kept[1]

    await asyncio.to_thread(script, redis_url)
    if given is KeyboardInterrupt:
        await wait_for_doubt(gate, review_id)
    else:
        taking = asyncio.create_task(take(gate))

        async def is_taken() -> bool:
            await gate.reviews.apply_due(review_id)
            return taking.done()

        await wait_until("another process has it", is_taken)
    await asyncio.to_thread(kept[0].__exit__, None, None, None)


async def test_a_run_after_one_that_failed_renews_its_lease(open_gate: Open) -> None:
    """Given a run without a function, and one with it that takes longer than the lease, then it is done."""
    gate = await open_gate(lease=0.5, heartbeat_ttl=1.0)
    review_id = await gate.submit([call(n=1)], thread_id="t-1")
    await approve_all(gate.reviews, review_id)
    outcome = await gate.wait(review_id)
    with pytest.raises(InvalidToolCall):
        await outcome.run({})

    async def ask(n: int) -> None:
        first = (await gate.reviews.load(review_id)).review.lease
        assert first is not None

        async def is_renewed() -> bool:
            lease = (await gate.reviews.load(review_id)).review.lease
            return lease is not None and lease.until > first.until

        await wait_until("its lease is renewed", is_renewed)

    await outcome.run({"ask": ask})
    assert (await gate.reviews.load(review_id)).review.status == "done"
