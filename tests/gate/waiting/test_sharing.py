"""Processes of one agent share the work: what a ready review costs Redis until one of them has claimed it."""

from __future__ import annotations

import asyncio
from typing import Any

import redis

from hitl_core.gate import Gate
from tests.gate.conftest import Open
from tests.support.builders import call

READY = 40
#: Other scripts that run meanwhile: the index of ready reviews, heartbeats, checks of the history.
OTHER = 20


async def submit_ready_reviews(gate: Gate) -> set[str]:
    """Of calls that the policy allows, so nobody has to decide."""
    return {await gate.submit([call("look_up")], thread_id=f"t-{n}") for n in range(READY)}


def scripts(url: str) -> int:
    with redis.Redis.from_url(url) as client:
        stats: Any = client.info("commandstats")
    return int(stats["cmdstat_evalsha"]["calls"])


async def take(gate: Gate, left: set[str]) -> list[str]:
    """Takes what it gets, until nothing is left."""
    taken: list[str] = []
    async for outcome in gate.outcomes():
        taken.append(outcome.review_id)
        left.discard(outcome.review_id)
        if not left:
            return taken
    raise AssertionError("It never ends by itself.")


async def test_a_ready_review_is_read_once_and_claimed_with_one_write(
    open_gate: Open, redis_url: str
):
    gate = await open_gate(heartbeat_ttl=30.0)
    ready = await submit_ready_reviews(gate)
    before = scripts(redis_url)
    taken = await asyncio.wait_for(take(gate, set(ready)), 30)
    assert set(taken) == ready
    assert scripts(redis_url) - before <= 2 * READY + OTHER


async def test_processes_of_one_agent_do_not_all_take_the_same_review_next(
    open_gate: Open, redis_url: str
):
    """Given two, then each gets some, and a review costs about three scripts: a read and a write by one, a
    read by the other. If both took the same one, it would be two reads and a write by each.
    """
    one, other = await open_gate(heartbeat_ttl=30.0), await open_gate(heartbeat_ttl=30.0)
    ready = await submit_ready_reviews(one)
    before, left = scripts(redis_url), set(ready)
    tasks = [asyncio.create_task(take(gate, left)) for gate in (one, other)]
    done, running = await asyncio.wait(tasks, timeout=30, return_when=asyncio.FIRST_COMPLETED)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    assert 0 < len(done.pop().result()) < READY
    assert scripts(redis_url) - before <= 4 * READY + OTHER
