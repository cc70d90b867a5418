"""`serve` ends while it works, and its process goes on."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from hitl_core.gate import Gate
from tests.integrations.agents import POLICY, Lab, call, go, running
from tests.support.waiting import wait_until


@pytest.fixture
def no_gc() -> Iterator[None]:
    """Python frees nothing that is in a cycle."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_gc")
async def test_a_run_that_serving_left_is_taken_up(lab: Lab) -> None:
    """Given a tool that runs when `serve` is cancelled; when the tool has ended and somebody serves again,
    then the run goes on, and the tool has run once."""
    started, may_end = asyncio.Event(), asyncio.Event()

    async def during() -> None:
        started.set()
        await may_end.wait()

    driver = lab.driver([call("c1", "send_email", to="a")], during=during)
    run = await driver.run(go(), thread_id="t-1")
    await lab.decide(run.review_id, "approve")
    async with running(driver.serve()):
        await started.wait()
    assert (await lab.review(run.review_id)).runs["1"].state == "started"
    may_end.set()
    async with lab.serving(driver):
        await lab.done(run.review_id)
    assert [(stop.finished, lab.effects) for stop in lab.stops] == [(True, ["sent a"])]


async def test_a_process_without_room_leaves_reviews_to_others(lab: Lab) -> None:
    """Given two decided reviews, and a process that drives one run at a time, then a process that has room
    gets the other one."""
    started, may_end = asyncio.Event(), asyncio.Event()

    async def during() -> None:
        started.set()
        await may_end.wait()

    turn = [call("c1", "send_email", to="a")]
    busy = lab.driver(turn, during=during)
    for thread in ("t-1", "t-2"):
        await lab.decide((await busy.run(go(), thread_id=thread)).review_id, "approve")
    store = lab.gate.reviews.store
    async with (
        Gate(store, policy=POLICY, agent="billing") as gate,
        lab.serving(busy, concurrency=1),
    ):
        await started.wait()
        other = Lab(gate, lab.saver, lab.folder)
        async with other.serving(other.driver(turn)):
            await wait_until("the other process has a run", lambda: other.stops)
        may_end.set()
        await wait_until("the first run has ended", lambda: lab.stops)
    assert sorted(stop.thread_id for stop in (*lab.stops, *other.stops)) == ["t-1", "t-2"]
