"""Other code runs a thread of the driver, exactly while the driver is about to continue it."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_core.errors import Refused
from hitl_core.integrations.langgraph import Driver
from tests.integrations.agents import Lab, call, go
from tests.integrations.graphs import asking

ANN: dict[str, Any] = {"requester": "U0ANN", "origin": "slack:C0123ABCD/1700000000.000100"}
THREAD: Any = {"configurable": {"thread_id": "t-1"}}
QUESTION = {
    "action_requests": [{"name": "pay", "args": {}, "description": "Pay?"}],
    "review_configs": [{"action_name": "pay", "allowed_decisions": ["approve", "reject"]}],
}


class MovingSaver(AsyncSqliteSaver):
    """After the next read of a thread, before the reader gets its state, it awaits `after_read`."""

    after_read: Callable[[], Awaitable[Any]] | None = None

    async def aget_tuple(self, config: Any) -> Any:
        saved = await super().aget_tuple(config)
        if after_read := self.after_read:
            self.after_read = None
            await after_read()
        return saved


@pytest.fixture
async def moving(lab: Lab) -> Lab:
    return Lab(lab.gate, MovingSaver(lab.saver.conn), lab.folder)


def make_agent(lab: Lab) -> Any:
    return lab.agent(*([call(f"c{number}", "send_email", to="a")] for number in (1, 2)))


def bob_writes(lab: Lab, agent: Any) -> None:
    """As soon as the driver has read the thread, other code begins a run of it for Bob."""
    lab.saver.after_read = lambda: agent.ainvoke(go("Bob's message"), THREAD)


async def test_a_run_that_other_code_began_is_not_continued_as_that_of_the_last_requester(
    moving: Lab,
) -> None:
    """Given Ann's saved message, when other code begins Bob's run of the thread between the driver's look at
    it and the run, then the driver is refused, and asks nobody about Bob's call as Ann's."""
    agent = make_agent(moving)
    driver = moving.reviews.drive(agent)
    await driver.save_input(go(), thread_id="t-1", **ANN)
    bob_writes(moving, agent)
    with pytest.raises(Refused, match="run of 't-1' began"):
        await driver.run(None, thread_id="t-1")
    assert await moving.all_reviews("t-1") == []


async def test_decisions_do_not_continue_a_run_that_other_code_began(moving: Lab) -> None:
    """Given Ann's approved call, when other code begins Bob's run of the thread as the driver is about to
    resume Ann's, then her call does not run, its card says so, and Bob's call is not hers."""
    agent = make_agent(moving)
    driver = moving.reviews.drive(agent)
    run = await driver.run(go(), thread_id="t-1", **ANN)
    await moving.decide(run.review_id, "approve")
    bob_writes(moving, agent)
    async with moving.serving(driver):
        review = await moving.done(run.review_id)
    assert moving.effects == []
    assert review.runs["1"].line == "not executed: the agent did not start it"
    assert [r.requester for r in await moving.all_reviews("t-1")] == [None, "U0ANN"]


async def test_an_answer_that_reached_no_question_is_told_on_the_card(moving: Lab) -> None:
    """Given the approved question of a node, when other code begins another run of the thread as the driver
    is about to answer, then the card says that the call was not executed."""
    driver: Driver = asking(moving, QUESTION)
    run = await driver.run({"out": []}, thread_id="t-1", **ANN)
    await moving.decide(run.review_id, "approve")
    graph = driver._agent
    moving.saver.after_read = lambda: graph.ainvoke({"out": ["Bob"]}, THREAD)
    async with moving.serving(driver):
        review = await moving.done(run.review_id)
    assert review.runs["1"].line == "not executed: another run of its thread began"


async def test_new_input_at_the_end_of_a_decided_run_is_busy(lab: Lab, moving: Lab) -> None:
    """Given a review that is decided, and whose run ends, just after new input has looked at its thread, then
    the new input is told to come again, and not that the decisions were used before."""
    run = await lab.driver([call("c1", "send_email", to="a")]).run(go(), thread_id="t-1")
    ours = moving.driver([call("c1", "send_email", to="a")])

    async def decide() -> None:
        await lab.decide(run.review_id, "approve")
        async with lab.serving(lab.driver([call("c1", "send_email", to="a")])):
            await lab.done(run.review_id)

    moving.saver.after_read = decide
    with pytest.raises(Refused) as caught:
        await ours.run(go("again"), thread_id="t-1")
    assert caught.value.code == "busy"
    assert (await ours.run(go("again"), thread_id="t-1")).finished


class ClosingSaver(AsyncSqliteSaver):
    """Closes itself when nobody has it any more."""

    is_closed = False

    def __new__(cls, conn: Any) -> ClosingSaver:
        return super().__new__(cls)

    def __del__(self) -> None:
        self.is_closed = True


async def test_a_run_does_not_close_its_checkpointer(lab: Lab) -> None:
    own = Lab(lab.gate, ClosingSaver(lab.saver.conn), lab.folder)
    run = await own.reviews.drive(make_agent(own)).run(go(), thread_id="t-1")
    assert run.review_id is not None
    gc.collect()
    assert not own.saver.is_closed
