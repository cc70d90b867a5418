"""A run is for the person who asked for it, also if another process continues it."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware

from hitl_core.errors import InvalidToolCall, Refused, ReviewConflict
from hitl_core.integrations.langgraph import Driver
from hitl_core.integrations.langgraph.driver.thread import ORIGIN, REQUESTER
from tests.integrations.agents import Lab, call, go
from tests.support.waiting import wait_until

ANN: dict[str, Any] = {"requester": "U0ANN", "origin": "slack:C0123ABCD/1700000000.000100"}
BOB: dict[str, Any] = {"requester": "U0BOB", "origin": "slack:C0999ABCD/1700000000.000200"}


class Stopping(AgentMiddleware):
    """Stops in front of the model, as soon as it `is_on`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_on, self.reached = False, asyncio.Event()

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        if self.is_on:
            self.reached.set()
            await asyncio.Event().wait()
        return await handler(request)


def make_driver(lab: Lab, *before: Any) -> Driver:
    turns = [[call(f"c{number}", "send_email", to="a")] for number in (1, 2)]
    return lab.driver(*turns, before=before)


async def asked_for(lab: Lab, review_id: str | None) -> tuple[str | None, str | None]:
    """The requester and the origin of a review."""
    review = await lab.review(review_id)
    return review.requester, review.origin


async def test_another_process_continues_a_run_for_its_own_requester(lab: Lab) -> None:
    """Given Ann's call that waits, and Bob's message that replaces it, when the process dies during that run,
    then the process that continues it asks about Bob's call as Bob's."""
    stopping = Stopping()
    ours = make_driver(lab, stopping)
    await ours.run(go(), thread_id="t-1", **ANN)
    stopping.is_on = True
    task = asyncio.create_task(ours.run(go("again"), thread_id="t-1", **BOB))
    await stopping.reached.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    other = Lab(lab.gate, lab.saver, lab.folder)

    async def find() -> str | None:
        return other.stops[0].review_id if other.stops else None

    async with other.serving(make_driver(other)):
        review_id = await wait_until("people are asked again", find)
    assert await asked_for(lab, review_id) == tuple(BOB.values())


async def test_a_run_that_was_replaced_as_it_paused_asks_nobody(lab: Lab) -> None:
    """Given Ann's run that has just paused, when other code begins a run of the thread before people are
    asked, then nobody is asked about its call as Ann's, and Ann's process is told."""
    config: Any = {"configurable": {"thread_id": "t-1"}}

    async def replace_ann(thread_id: str, chunk: Any) -> None:
        if "__interrupt__" in chunk:
            work = other.ainvoke(go(), config)
            await asyncio.create_task(work, context=contextvars.Context())

    turn = [call("c1", "send_email", to="a")]
    other = lab.agent(turn, [call("c2", "send_email", to="a")])
    ours = lab.reviews.drive(lab.agent(turn, turn), stream=replace_ann)
    with pytest.raises(Refused, match="Another process began a new run"):
        await ours.run(go(), thread_id="t-1", **ANN)
    assert await lab.all_reviews("t-1") == []


async def test_a_pause_that_a_crash_left_is_submitted_for_its_own_requester(lab: Lab) -> None:
    """Given Ann's run that paused, and whose process died before people were asked, when Bob's message
    replaces it, then the card that was cancelled was Ann's."""
    agent = lab.agent([call("c1", "send_email", to="a")])
    config: Any = {
        "configurable": {"thread_id": "t-1"},
        "metadata": {REQUESTER: ANN["requester"], ORIGIN: ANN["origin"]},
    }
    await agent.ainvoke(go(), config)
    await lab.reviews.drive(agent).run(go("again"), thread_id="t-1", **BOB)
    [review] = await lab.all_reviews("t-1")
    assert review.cancelled is not None
    assert (review.requester, review.origin) == tuple(ANN.values())


async def test_another_requester_is_not_asked_at_the_origin_of_the_last_one(lab: Lab) -> None:
    """Given Ann's message with its origin, and Bob's without one, then Bob's call has none; without any
    requester it is still Ann's."""
    driver = make_driver(lab)
    await driver.run(go(), thread_id="t-1", **ANN)
    run = await driver.run(go("again"), thread_id="t-1")
    assert await asked_for(lab, run.review_id) == tuple(ANN.values())
    await driver.run(go(), thread_id="t-2", **ANN)
    run = await driver.run(go("again"), thread_id="t-2", requester="U0BOB")
    assert await asked_for(lab, run.review_id) == ("U0BOB", None)


async def test_new_input_replaces_a_run_whose_requester_was_refused(lab: Lab) -> None:
    """Given a run that named no requester where the policy needs one, so nobody could be asked, then the next
    message, with a requester, is taken."""
    lab.set_policy(default="review", reviewers={"users": ["U0CY"], "exclude_requester": True})
    driver = make_driver(lab)
    with pytest.raises(InvalidToolCall, match="it is missing"):
        await driver.run(go(), thread_id="t-1")
    run = await driver.run(go("again"), thread_id="t-1", requester="U0BOB")
    assert await asked_for(lab, run.review_id) == ("U0BOB", None)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"thread_id": 5}, "The thread_id must be text"),
        ({"requester": 5}, "The requester must be text"),
        ({"origin": "#support"}, "The origin must be a thread"),
    ],
)
async def test_a_wrong_name_is_refused_before_anything_runs(
    lab: Lab, wrong: dict[str, Any], why: str
) -> None:
    """Given a message with an origin that is none, then it is refused before the model is called, and the
    next message without an origin does not take over the wrong one."""
    driver = make_driver(lab)
    for send in (driver.run, driver.save_input):
        with pytest.raises(InvalidToolCall, match=why):
            await send(go(), **{"thread_id": "t-1", **wrong})
    run = await driver.run(go("again"), thread_id="t-1")
    assert [message.text for message in run.state["messages"]] == ["again", ""]
    assert run.review_id is not None


async def test_another_requester_continues_no_run(lab: Lab) -> None:
    """Given Ann's message, whose process died, then Bob can't continue it as his, so that Ann could approve
    what she asked for; Ann can, as she may be written, and nobody in particular."""
    driver = make_driver(lab)
    await driver.save_input(go(), thread_id="t-1", **ANN)
    with pytest.raises(ReviewConflict, match="another requester"):
        await driver.run(None, thread_id="t-1", requester="U0BOB")
    run = await driver.run(None, thread_id="t-1", requester="<@U0ANN>")
    assert await asked_for(lab, run.review_id) == tuple(ANN.values())
    assert (await driver.run(None, thread_id="t-1")).review_id == run.review_id
