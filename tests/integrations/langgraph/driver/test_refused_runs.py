"""A run that can't go on, because nobody can be asked about its call, or its node can't use what people
decided, doesn't block its thread.
"""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from hitl_core.errors import IntegrationError, InvalidToolCall
from hitl_core.integrations.langgraph import Driver
from tests.integrations.agents import Lab, answers, call, go
from tests.integrations.graphs import State


@pytest.mark.parametrize(
    "turn",
    [
        [call("c1", "send_email", to="x" * 300_000)],
        [call("c1", "send_email", to="a"), call("c1", "send_email", to="b")],
        [call("c1", "run_sql", query="x")],
    ],
)
async def test_new_input_replaces_a_call_about_which_nobody_can_be_asked(
    lab: Lab, turn: Any
) -> None:
    """Given a call that can't be reviewed, so its run was refused, then the next message is taken,
    and the model knows that nothing ran."""
    rule = {"allowed_decisions": ["respond"]}
    lab.set_policy(default="allow", interrupt_on={"run_sql": rule})
    driver = lab.driver(turn)
    with pytest.raises((InvalidToolCall, IntegrationError)):
        await driver.run(go(), thread_id="t-1")
    run = await driver.run(go("again"), thread_id="t-1")
    assert run.finished
    assert answers(run)["c1"][0] == "error"
    assert "was stopped before it ended" in answers(run)["c1"][1]
    assert (lab.effects, await lab.all_reviews("t-1")) == ([], [])


def asking_until_new(lab: Lab, *accepts: str) -> Driver:
    """A node that asks, and raises after the answer. Of new input it asks nothing."""
    question = {
        "action_requests": [{"name": "pay", "args": {}, "description": "Pay?"}],
        "review_configs": [{"action_name": "pay", "allowed_decisions": accepts}],
    }

    def node(state: State) -> Any:
        if state["out"][-1] == "new":
            return {"out": ["fine"]}
        interrupt(question)
        raise RuntimeError("away")

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return lab.reviews.drive(graph.compile(checkpointer=lab.saver))


async def test_new_input_replaces_a_node_that_raised_after_its_answer(lab: Lab) -> None:
    """Given an approved question whose node then raised, so that its run stays there, then the next message
    is taken."""
    driver = asking_until_new(lab, "approve", "reject")
    paused = await driver.run({"out": ["go"]}, thread_id="t-1")
    await lab.decide(paused.review_id, "approve")
    async with lab.serving(driver):
        await lab.done(paused.review_id)
    assert "raised RuntimeError" in str(lab.stops[0].refusal)
    run = await driver.run({"out": ["new"]}, thread_id="t-1")
    assert (run.finished, run.state["out"]) == (True, ["go", "new", "fine"])


async def test_new_input_replaces_a_question_that_accepts_no_cancellation(lab: Lab) -> None:
    """Given a question to which a node accepts only an approval, when its review is cancelled, then the run
    stays there, its review is done, and the next message is taken."""
    driver = asking_until_new(lab, "approve")
    paused = await driver.run({"out": ["go"]}, thread_id="t-1")
    await lab.gate.cancel(str(paused.review_id), "stop")
    async with lab.serving(driver):
        await lab.done(paused.review_id)
    assert "doesn't accept 'reject'" in str(lab.stops[0].refusal)
    run = await driver.run({"out": ["new"]}, thread_id="t-1")
    assert (run.finished, run.state["out"]) == (True, ["go", "new", "fine"])
