"""A process that stops waiting leaves its review to the other processes of the agent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hitl_core.errors import StoreUnwritable
from hitl_core.failpoints import FailpointError
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.gate.conftest import Open
from tests.support.builders import approve_all, call
from tests.support.redis_servers.unwritable import refusing_writes
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]


async def cancel(work: asyncio.Task[Any]) -> None:
    work.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work


async def test_a_review_whose_submit_was_cancelled_waits_for_nobody(
    open_gate: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Given `gate.review` cancelled while its review is stored, then a worker gets it, though the first
    process lives on."""
    gate, worker = await open_gate(heartbeat_ttl=1.0), await open_gate(heartbeat_ttl=1.0)
    monkeypatch.setenv("HITL_FAILPOINTS", f"gate.after_submit=pause:{tmp_path / 'never'}")
    reviewing = asyncio.create_task(gate.review([call(n=1)], thread_id="t-1"))
    store = gate.reviews.store
    [review_id] = await wait_until("it is stored", lambda: store.thread_ids("t-1"))
    await cancel(reviewing)
    monkeypatch.delenv("HITL_FAILPOINTS")
    await approve_all(worker.reviews, review_id)
    async with asyncio.timeout(20):
        outcome = await anext(worker.outcomes())
    assert outcome.review_id == review_id


async def test_a_review_whose_submit_failed_waits_for_nobody(
    open_gate: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given `gate.review` that failed although its review was stored, then a worker gets it."""
    gate, worker = await open_gate(), await open_gate(heartbeat_ttl=1.0)
    monkeypatch.setenv("HITL_FAILPOINTS", "gate.after_submit=raise")
    with pytest.raises(FailpointError):
        await gate.review([call(n=1)], thread_id="t-1")
    monkeypatch.delenv("HITL_FAILPOINTS")
    [review_id] = await gate.reviews.store.thread_ids("t-1")
    await approve_all(worker.reviews, review_id)
    async with asyncio.timeout(20):
        outcome = await anext(worker.outcomes())
    assert outcome.review_id == review_id


@pytest.mark.redis
async def test_a_wait_that_ends_while_redis_takes_no_writes_leaves_its_review(
    open_gate: Open, own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a wait that was cancelled while Redis took no writes, then a worker gets its review afterwards,
    though the process lives on."""
    url = own_redis().url
    gate, worker = await open_gate(url, heartbeat_ttl=60.0), await open_gate(url, heartbeat_ttl=1.0)
    monkeypatch.setattr(gate.reviews, "_retry_seconds", 0.2)  # the patience of each change
    review_id = await gate.submit([call(n=1)], thread_id="t-1")
    waiting = asyncio.create_task(gate.wait(review_id))

    async def is_waited_for() -> bool:
        return (await worker.reviews.load(review_id)).review.waiting_process == gate.process

    await wait_until("it waits", is_waited_for)
    with refusing_writes(url, "READONLY"):
        await cancel(waiting)
        for _ in range(5):  # begun later, so the other change has failed too
            with pytest.raises(StoreUnwritable):
                await gate.submit([call(n=2)], thread_id="t-2")
    await approve_all(worker.reviews, review_id)
    async with asyncio.timeout(20):
        outcome = await anext(worker.outcomes())
    assert outcome.review_id == review_id


async def test_an_outcome_that_is_released_unfinished_goes_to_others(
    open_gate: Open,
) -> None:
    """Given a process that waited for a review, has it, and releases it unfinished, then a worker gets it
    when the lease ends, though that process lives on."""
    gate = await open_gate(lease=0.5, heartbeat_ttl=60.0)
    worker = await open_gate(heartbeat_ttl=1.0)
    review_id = await gate.submit([call(n=1)], thread_id="t-1")
    waiting = asyncio.create_task(gate.wait(review_id))

    async def is_waited_for() -> bool:
        return (await worker.reviews.load(review_id)).review.waiting_process == gate.process

    await wait_until("it waits", is_waited_for)
    await approve_all(worker.reviews, review_id)
    outcome = await waiting
    outcome.release()

    async def take() -> str:
        async for taken in worker.outcomes():
            return taken.review_id
        raise AssertionError

    taking = asyncio.create_task(take())

    async def is_taken() -> bool:
        await worker.reviews.apply_due(review_id)  # as a bot does
        return taking.done()

    await wait_until("a worker has it", is_taken)
    assert taking.result() == review_id
