"""LangGraph or a middleware tries a call again that ran, and an answer comes to a question that is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import CachePolicy, Command, RetryPolicy, interrupt

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.graph import HITL_NODE
from tests.integrations.agents import Lab, Script, answers, call, go, tools


class Again(AgentMiddleware[Any, Any, Any]):
    """Tries a call that failed once more."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        result = await handler(request)
        failed = isinstance(result, ToolMessage) and result.status == "error"
        return await handler(request) if failed else result


async def test_a_middleware_that_tries_again_gets_the_result(lab: Lab) -> None:
    """Given an approved call whose tool raised after its effect, when a middleware tries it again, then the
    tool does not run again, and the model reads its error, and not that it was not executed."""
    turn = [call("c1", "explode", fuse="a")]
    driver = lab.driver(turn, asking={"explode": True}, between=[Again()])
    run = await driver.run(go(), thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert answers(lab.stops[0]) == {"c1": ("error", "RuntimeError: boom a\nsecond line")}
    assert lab.effects == ["lit a"]


RETRY = RetryPolicy(retry_on=RuntimeError, initial_interval=0.01, jitter=False)


def graph_of(lab: Lab, own: list[BaseTool], *calls: Any, **policies: Any) -> Any:
    """One node, with these policies of LangGraph, runs all calls of a message."""
    hitl = HumanInTheLoopMiddleware({"send_email": True})
    turn = AIMessage("", id="m1", tool_calls=[{**each, "type": "tool_call"} for each in calls])

    def ask(state: Any) -> Any:
        return hitl.after_model(state, None)  # type: ignore[arg-type]

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [turn]})
    graph.add_node(HITL_NODE, ask)
    graph.add_node("tools", ToolNode(own, handle_tool_errors=False), **policies)
    graph.add_edge(START, "model").add_edge("model", HITL_NODE).add_edge(HITL_NODE, "tools")
    return graph.compile(checkpointer=lab.saver)


async def test_a_node_that_is_tried_again_keeps_the_results_of_its_calls(lab: Lab) -> None:
    """Given an approved call that ran, and one beside it that raises, when LangGraph tries their node again,
    then the approved call does not run again, and the model gets its result."""
    tries: list[str] = []

    @tool
    async def look_up(what: str) -> str:
        """Look something up."""
        tries.append(what)
        if len(tries) == 1:
            raise RuntimeError("away")
        return "found"

    own = [*tools(lab.folder / "effects"), look_up]
    turn = [call("c1", "send_email", to="a"), call("c2", "look_up", what="b")]
    driver = lab.reviews.drive(graph_of(lab, own, *turn, retry_policy=RETRY))
    run = await driver.run(go(), thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    told = answers(lab.stops[0])
    assert told == {"c1": ("success", "sent a"), "c2": ("success", "found")}
    assert (lab.effects, len(tries)) == (["sent a"], 2)


async def test_a_tool_node_whose_results_are_cached_is_refused(lab: Lab) -> None:
    """Given a cache for the results of a tool node, then the agent is refused: an approved call could get the
    result of another one, and not run."""
    own, turn = tools(lab.folder / "effects"), [call("c1", "send_email", to="a")]
    agent = graph_of(lab, own, *turn, cache_policy=CachePolicy())
    with pytest.raises(IntegrationError, match="agent > tools: its results are cached"):
        lab.reviews.drive(agent)


def note(effects: Path, line: str) -> None:
    with effects.open("a") as file:
        file.write(line + "\n")


@pytest.mark.parametrize("answer", [{"0" * 32: "yes"}, {}])
async def test_an_answer_to_no_question_starts_no_tool(lab: Lab, answer: dict[str, Any]) -> None:
    """Given an approved tool that waits at a question of its own, when an answer comes that names another
    question, as one that was answered before, then the tool's code does not run."""

    @tool
    async def transfer(to: str) -> str:
        """Transfer money."""
        note(lab.folder / "effects", "began")
        return f"{interrupt('How much?')} to {to}"

    agent = create_agent(
        Script(turns=[[call("c1", "transfer", to="a")], "Done."]),
        [transfer],
        middleware=[HumanInTheLoopMiddleware({"transfer": True})],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    run = await driver.run(go(), thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    [question] = lab.stops[0].unknown
    run = await driver.run(Command(resume=answer), thread_id="t-1")
    assert ([each.id for each in run.unknown], lab.effects) == ([question.id], ["began"])
    run = await driver.run(Command(resume={question.id: 5}), thread_id="t-1")
    assert answers(run)["c1"] == ("success", "5 to a")
