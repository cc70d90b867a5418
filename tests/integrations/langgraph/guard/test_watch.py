"""Without a driver there is the same second check, by a callback in the graph's config."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send
from pydantic import BaseModel

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph import HumanReview
from tests.integrations.agents import Lab, Script, call, go, tools

DROP = [call("i1", "run_sql", query="DROP TABLE orders")]


@pytest.fixture(autouse=True)
def deny_policy(lab: Lab) -> None:
    """The tools that no path may run."""
    lab.set_policy(default="allow", interrupt_on={"run_sql": "deny", "send_email": True})


def own(lab: Lab, name: str) -> BaseTool:
    return next(each for each in tools(lab.folder / "effects") if each.name == name)


class Pay(BaseModel):
    amount: int


class Other(BaseCallbackHandler):
    """A callback of the application."""


async def by_ainvoke(agent: Any) -> Any:
    return await agent.ainvoke(go())


async def by_invoke(agent: Any) -> Any:
    return await asyncio.to_thread(agent.invoke, go())


async def by_stream(agent: Any) -> Any:
    return [chunk async for chunk in agent.astream(go(), stream_mode="messages")]


async def by_config(agent: Any) -> Any:
    return await agent.with_config({"callbacks": [Other()]}).ainvoke(go(), {"callbacks": [Other()]})


async def by_retry(agent: Any) -> Any:
    return await agent.with_retry(stop_after_attempt=2).ainvoke(go())


async def by_batch(agent: Any) -> Any:
    return await agent.abatch([go()])


async def by_chain(agent: Any) -> Any:
    return await (RunnableLambda(lambda given: given) | agent).ainvoke(go())


async def in_a_graph(agent: Any) -> Any:
    """Of another graph, which is not guarded."""
    graph: Any = StateGraph(MessagesState)
    graph.add_node("agent", agent)
    graph.add_edge(START, "agent")
    return await graph.compile().ainvoke(go())


WAYS = [by_ainvoke, by_invoke, by_stream, by_config, by_retry, by_batch, by_chain, in_a_graph]


def delegating(agent: Any, config: Any = None) -> BaseTool:
    """A tool with an agent behind a reference that the walk doesn't follow."""
    hidden = weakref.ref(agent)

    def run(task: str) -> str:
        return str(hidden().invoke(go(task), config))  # type: ignore[misc]

    async def arun(task: str) -> str:
        return str(await hidden().ainvoke(go(task), config))  # type: ignore[misc]

    return StructuredTool.from_function(run, arun, name="delegate", description="Delegate.")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("config", [None, {"callbacks": [Other()]}])
async def test_an_agent_that_nobody_can_see_calls_no_tool(
    lab: Lab, way: Callable[[Any], Awaitable[Any]], config: Any
) -> None:
    """security H1: given an agent that is guarded and not driven, however the application runs it, then a
    tool of an agent that the walk doesn't find is stopped as it starts."""
    inner = create_agent(Script(turns=[DROP]), tools(lab.folder / "effects"))
    outer = create_agent(
        Script(turns=[[call("o1", "delegate", task="x")]]), [delegating(inner, config)]
    )
    with pytest.raises(IntegrationError, match="`run_sql` was stopped"):
        await way(lab.reviews.guard(outer))
    assert lab.effects == []


@pytest.mark.parametrize("callbacks", [None, [Other()]])
async def test_a_tool_that_a_node_invokes_itself_obeys_the_policy(lab: Lab, callbacks: Any) -> None:
    """Also in a branch of a fan-out, in a chain, and with callbacks in the place of LangGraph's."""
    sql, read = own(lab, "run_sql"), own(lab, "read")
    config: Any = {"callbacks": callbacks} if callbacks else None

    async def node(state: Any) -> Any:
        await read.ainvoke({"topic": "x"}, config)
        await RunnableLambda(lambda query: sql.invoke({"query": query}, config)).ainvoke("DROP")

    def spread(state: MessagesState) -> list[Send]:
        return [Send("node", state)]

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_conditional_edges(START, spread, ["node"])
    with pytest.raises(IntegrationError, match="Code invoked it"):
        await lab.reviews.guard(graph.compile()).ainvoke(go())
    assert lab.effects == ["read x"]


async def test_an_allowed_call_runs_once_with_several_watches(lab: Lab) -> None:
    """Given an agent that is guarded by itself, as a part of another and by a driver, then its free tool
    runs, and the application's tools outside of any graph are left alone."""
    inner = lab.reviews.guard(
        create_agent(Script(turns=[[call("i1", "read", topic="x")]]), tools(lab.folder / "effects"))
    )

    async def arun(task: str) -> str:
        return str((await inner.ainvoke(go(task)))["messages"][-2].text)

    delegate = StructuredTool.from_function(coroutine=arun, name="delegate", description="Go.")
    outer: Any = create_agent(
        Script(turns=[[call("o1", "delegate", task="x")]]), [delegate], checkpointer=InMemorySaver()
    )
    lab.reviews.guard(lab.reviews.guard(outer))
    config: Any = {"configurable": {"thread_id": "t-0"}}
    assert (await outer.ainvoke(go(), config))["messages"][-2].text == "read x"
    run = await lab.reviews.drive(outer, allow_in_memory=True).run(go(), thread_id="t-1")
    assert run.state["messages"][-2].text == "read x"
    own(lab, "run_sql").invoke({"query": "by hand"})
    assert lab.effects == ["read x", "read x", "ran by hand"]


async def test_a_graph_that_keeps_no_callback_is_refused(lab: Lab) -> None:
    """Given a graph whose config can't be given a callback, then the error comes before anything runs."""
    agent: Any = create_agent(Script(turns=[]), [])

    def drop_config(self: Any, value: Any = None) -> Any:
        return {}

    agent.__class__ = type("Closed", (type(agent),), {"config": property(drop_config, drop_config)})
    with pytest.raises(IntegrationError, match="callback"):
        HumanReview(lab.gate).guard(agent)


@pytest.mark.parametrize("given", ["5000", {"amount": 5000}])
async def test_a_text_in_place_of_arguments_avoids_no_rule(lab: Lab, given: Any) -> None:
    """Given a rule for large amounts, when a node's code invokes the tool with a plain text, which LangChain
    takes for the first argument, then it doesn't run."""
    large = {"properties": {"amount": {"not": {"maximum": 100}}}, "required": ["amount"]}
    lab.set_policy(default="allow", interrupt_on={"pay": {"when": large}})
    paid: list[int] = []
    pay = StructuredTool.from_function(paid.append, name="pay", description="Pay.", args_schema=Pay)

    async def node(state: Any) -> Any:
        await pay.ainvoke(given)

    graph: Any = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    with pytest.raises(IntegrationError, match="Code invoked it"):
        await lab.reviews.guard(graph.compile()).ainvoke(go())
    assert paid == []
