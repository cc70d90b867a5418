"""One interrupt for each call: tools that refuse or ask themselves, and other graphs."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from pydantic import AfterValidator, Field

from hitl_core.errors import IntegrationError, Refused
from tests.integrations.agents import (
    ASKING,
    Lab,
    Script,
    answers,
    call,
    go,
    tools,
)
from tests.integrations.langgraph.pauses.test_per_call import CONFIG, EMAILS, PER_CALL, TURN, decide


async def test_nobody_answers_without_the_driver(lab: Lab) -> None:
    """Given a pending review, when somebody resumes one of its interrupts by id, then the driver names
    the review, and by hand the call does not run."""
    agent = lab.agent(TURN, **PER_CALL)
    driver = lab.reviews.drive(agent)
    paused = await driver.run(go(), thread_id="t-1")
    first = (await agent.aget_state(CONFIG)).interrupts[0]
    by_hand: Any = Command(resume={first.id: {"type": "approve"}})
    with pytest.raises(Refused, match=str(paused.review_id)):
        await driver.run(by_hand, thread_id="t-1")
    await agent.ainvoke(by_hand, CONFIG)
    assert lab.effects == ["read x"]
    async with lab.serving(driver):
        await lab.decide(paused.review_id, "approve", "approve", "approve")
        await lab.done(paused.review_id)
    assert lab.effects == ["read x", "sent b", "ran DROP TABLE t"]


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("odd")
    return number


@pytest.mark.parametrize("allowed", [["edit", "reject"], ["approve", "edit"], ["edit"]])
async def test_an_edit_that_only_the_tool_itself_refuses_does_not_run_and_is_told(
    lab: Lab, allowed: list[str]
) -> None:
    """Given a tool whose types say more than its JSON Schema, when an edit doesn't fit them, then it
    doesn't run, its card says why, the model is told, and the next call gets its answer."""

    @tool
    def pair(
        people: Annotated[int, Field(description="An even number."), AfterValidator(_even)],
    ) -> str:
        """Pair people."""
        (lab.folder / "effects").write_text(f"paired {people}\n")
        return "paired"

    asking: Any = {**ASKING, "pair": {"allowed_decisions": allowed}}
    agent = create_agent(
        Script(turns=[[call("c1", "pair", people=2), call("c2", "run_sql", query="x")]]),
        [*tools(lab.folder / "effects"), pair],
        middleware=[HumanInTheLoopMiddleware(asking, **PER_CALL)],
        checkpointer=lab.saver,
    )
    results = await decide(lab, lab.reviews.drive(agent), {"people": 3}, "approve")
    [review] = await lab.all_reviews("t-1")
    assert lab.effects == ["ran x"]
    assert results["c1"][0] == "error"
    assert "not executed" in results["c1"][1].lower()
    line = "failed: not executed: the edited arguments don't fit the tool (people)."
    assert review.runs["1"].line == line
    assert results["c2"] == ("success", "ran x")


async def test_an_interrupt_of_a_tool_beside_reviewed_calls_stays_pending(lab: Lab) -> None:
    """Given a free tool that asks something itself, when the review is approved, then the reviewed
    calls ran once, the question is still there, and its answer finishes the run."""

    @tool
    def ask_user(question: str) -> str:
        """Ask the user."""
        return str(interrupt({"question": question}))

    agent = create_agent(
        Script(turns=[[*EMAILS[:2], call("q", "ask_user", question="why")]]),
        [*tools(lab.folder / "effects"), ask_user],
        middleware=[HumanInTheLoopMiddleware(ASKING, **PER_CALL)],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    await decide(lab, driver, "approve", "approve")
    [question] = lab.stops[-1].unknown
    run = await driver.run(Command(resume={question.id: "yes"}), thread_id="t-1")
    assert (run.finished, lab.effects) == (True, ["sent a", "sent b"])
    assert answers(run)["q"] == ("success", "yes")


@pytest.mark.parametrize(
    "value",
    [
        {"type": "tool_approval", "tool_call_id": "c1", "name": "send_email", "args": {"to": "b"}},
        {"type": "tool_approval"},
    ],
)
async def test_an_interrupt_that_only_looks_like_langchains_is_no_review(
    lab: Lab, value: Any
) -> None:
    """Given an interrupt about a call of the model, but not as the model made it, then nobody can be asked,
    and the run says so; other code answers one that is about no call."""

    def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", str(interrupt(value)))]}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    driver = lab.reviews.drive(graph.compile(checkpointer=lab.saver))
    asks = AIMessage("", tool_calls=[EMAILS[0]])
    if "args" in value:
        with pytest.raises(IntegrationError, match="nobody can be asked"):
            await driver.run({"messages": [asks]}, thread_id="t-1")
        return
    run = await driver.run({"messages": [asks]}, thread_id="t-1")
    assert (len(run.unknown), run.review_ids) == (1, ())


async def test_an_agent_that_is_a_node_of_another_graph_is_reviewed_turn_by_turn(lab: Lab) -> None:
    """Given an agent inside a graph, which asks in two turns, then each is a review of its own."""
    inner = create_agent(
        Script(turns=[TURN, [call("d1", "send_email", to="d")]]),
        tools(lab.folder / "effects"),
        middleware=[HumanInTheLoopMiddleware(ASKING, **PER_CALL)],
    )
    outer = StateGraph(MessagesState)
    outer.add_node("agent", inner)
    outer.add_edge(START, "agent")
    driver = lab.reviews.drive(outer.compile(checkpointer=lab.saver))
    await decide(lab, driver, "approve", {"to": "E"}, ("reject", "no"))
    async with lab.serving(driver):
        await lab.decide(lab.stops[0].review_id, "approve")
        await lab.done(lab.stops[0].review_id)
    assert lab.effects == ["read x", "sent a", "sent E", "sent d"]
    assert lab.stops[-1].finished
