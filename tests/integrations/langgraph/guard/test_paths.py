"""Every way to run a tool is guarded, stopped when the tool starts, or refused before the run."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command, Send

from hitl_core.errors import IntegrationError
from tests.integrations.agents import Lab, Script, answers, call, go, tools

DROP = [call("i1", "run_sql", query="DROP TABLE orders")]


pytestmark = pytest.mark.usefixtures("deny_policy")


def own(lab: Lab, name: str) -> BaseTool:
    return next(each for each in tools(lab.folder / "effects") if each.name == name)


def dropping(lab: Lab) -> Any:
    """An agent that nobody guards, and that calls what is denied."""
    return create_agent(Script(turns=[DROP]), tools(lab.folder / "effects"))


def outer(lab: Lab, *given: Any, middleware: Any = (), turn: Any = None) -> Any:
    turn = turn or [call("o1", getattr(given[0], "name", "delegate"), task="x")]
    return create_agent(
        Script(turns=[turn]), list(given), middleware=middleware, checkpointer=lab.saver
    )


async def run_stopped(lab: Lab, agent: Any, sentence: str | None = None) -> Any:
    """Drive it; nothing of it runs: the guard tells the model, or the run raises this error."""
    driver = lab.reviews.drive(agent)
    asks = {"messages": [AIMessage("", tool_calls=[{**c, "type": "tool_call"} for c in DROP])]}
    given = go() if "model" in agent.nodes else asks
    if sentence is None:
        run = await driver.run(given, thread_id="t-1")
    else:
        with pytest.raises(IntegrationError, match=sentence):
            await driver.run(given, thread_id="t-1")
        run = None
    assert lab.effects == []
    return run


class Team:
    """An application's own object, with an agent in an attribute."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    async def delegate(self, task: str) -> str:
        """Let the team do it."""
        return await self._go(task)

    async def _go(self, task: str) -> str:
        return str((await self.agent.ainvoke(go(task)))["messages"][-1].text)


MAILERS: dict[str, Any] = {}


async def by_global(task: str) -> str:
    """Let another agent do it."""
    return str((await MAILERS["one"].ainvoke(go(task)))["messages"][-1].text)


async def _with(agent: Any, task: str) -> str:
    return str((await agent.ainvoke(go(task)))["messages"][-1].text)


def _as_tool(function: Callable[..., Any]) -> BaseTool:
    return StructuredTool.from_function(
        coroutine=function, name="delegate", description="Let another agent do it."
    )


def by_partial(agent: Any) -> BaseTool:
    part = functools.partial(_with, agent)

    async def run(task: str) -> str:
        return await part(task)

    return _as_tool(run)


def by_runnable(agent: Any) -> BaseTool:
    def ask(each: Any) -> Any:
        return go(each["task"])

    chain: Runnable[Any, str] = RunnableLambda(ask) | agent | RunnableLambda(str)

    async def run(task: str) -> str:
        return await chain.ainvoke({"task": task})

    return _as_tool(run)


def by_method(agent: Any) -> BaseTool:
    return _as_tool(Team(agent).delegate)


def by_name(agent: Any) -> BaseTool:
    MAILERS["one"] = agent
    return _as_tool(by_global)


def by_cache(agent: Any) -> BaseTool:
    @functools.lru_cache
    def choose() -> Any:
        return agent

    async def run(task: str) -> str:
        return await _with(choose(), task)

    return _as_tool(run)


def by_task(agent: Any) -> BaseTool:
    """LangGraph's functional API."""

    @task
    async def step(task: str) -> str:
        return await _with(agent, task)

    async def run(task: str) -> str:
        return await step(task)

    return _as_tool(run)


def by_subclass(agent: Any) -> BaseTool:
    class Delegate(BaseTool):
        name: str = "delegate"
        description: str = "Let another agent do it."
        agent: Any

        def _run(self, task: str) -> str:
            raise NotImplementedError

        async def _arun(self, task: str) -> str:
            return await _with(self.agent, task)

    return Delegate(agent=agent)


@pytest.mark.parametrize(
    "way", [by_partial, by_runnable, by_method, by_name, by_cache, by_task, by_subclass]
)
async def test_an_agent_in_a_tool_is_guarded_however_it_is_held(
    lab: Lab, way: Callable[[Any], BaseTool]
) -> None:
    """Given an agent without anything of ours, in a partial, a chain, an object, a global or a tool's
    own attribute, then its denied call does not run, and the run continues."""
    run = await run_stopped(lab, outer(lab, way(dropping(lab))))
    assert run.finished


@pytest.mark.parametrize("config", [{}, {"callbacks": []}])
async def test_an_agent_that_nobody_can_see_calls_no_tool(lab: Lab, config: Any) -> None:
    """Given an agent behind a reference that the walk doesn't follow, also where callbacks are set apart,
    then its tool is stopped as it starts, and the run says so."""
    inner = dropping(lab)
    hidden = weakref.ref(inner)

    async def run(task: str) -> str:
        return str(await hidden().ainvoke(go(task), config))  # type: ignore[misc]

    await run_stopped(lab, outer(lab, _as_tool(run)), "has no guard")


async def test_a_stop_that_a_node_catches_is_raised_at_the_end(lab: Lab) -> None:
    hidden = weakref.ref(inner := dropping(lab))

    async def run(task: str) -> str:
        try:
            return str(await hidden().ainvoke(go(task)))  # type: ignore[misc]
        except IntegrationError:
            return "never mind"

    await run_stopped(lab, outer(lab, _as_tool(run)), "`run_sql` was stopped")
    assert inner


async def test_an_agent_that_is_made_during_the_run_is_refused_before(lab: Lab) -> None:
    async def run(task: str) -> str:
        agent: Any = create_agent(Script(turns=[DROP]), tools(lab.folder / "effects"))
        return str(await agent.ainvoke(go(task)))

    with pytest.raises(IntegrationError, match=r"delegate.*Make it outside"):
        lab.reviews.drive(outer(lab, _as_tool(run)))


async def test_a_tool_node_in_a_graph_of_ones_own_is_guarded(lab: Lab) -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("act", ToolNode(tools(lab.folder / "effects")))
    graph.add_edge(START, "act")
    run = await run_stopped(lab, graph.compile(checkpointer=lab.saver))
    assert "The policy doesn't allow `run_sql`" in answers(run)["i1"][1]


async def test_a_tool_node_with_a_sync_wrapper_is_guarded(lab: Lab) -> None:
    """LangGraph takes a sync wrapper for async runs too: it may wait for the guard without blocking it."""
    seen: list[str] = []

    def wrap(request: Any, execute: Any) -> Any:
        seen.append(request.tool_call["name"])
        return execute(request)

    graph = StateGraph(MessagesState)
    graph.add_node("act", ToolNode(tools(lab.folder / "effects"), wrap_tool_call=wrap))
    graph.add_edge(START, "act")
    run = await run_stopped(lab, graph.compile(checkpointer=lab.saver))
    assert (seen, answers(run)["i1"][0]) == (["run_sql"], "error")


async def test_tool_nodes_that_a_node_calls_or_that_are_sent_to_are_guarded(lab: Lab) -> None:
    """Given a tool node inside a node's function, and one that gets its calls by `Send`."""
    act = ToolNode(tools(lab.folder / "effects"))

    async def node(state: MessagesState) -> Any:
        return await act.ainvoke(state)

    def spread(state: MessagesState) -> list[Send]:
        calls = state["messages"][-1].tool_calls  # type: ignore[union-attr]
        return [Send("act", [each]) for each in calls]

    for add in (node, None):
        graph = StateGraph(MessagesState)
        graph.add_node("act", add or ToolNode(tools(lab.folder / "effects")))
        if add:
            graph.add_edge(START, "act")
        else:
            graph.add_conditional_edges(START, spread, ["act"])
        run = await lab.reviews.drive(graph.compile(checkpointer=lab.saver)).run(
            {"messages": [AIMessage("", tool_calls=[{**DROP[0], "type": "tool_call"}])]},
            thread_id=f"t-{bool(add)}",
        )
        assert answers(run)["i1"][0] == "error"
    assert lab.effects == []


async def test_a_node_that_invokes_a_tool_itself_obeys_the_policy(lab: Lab) -> None:
    """Nobody can be asked there: allowed tools run, all others are stopped."""
    sql, read = own(lab, "run_sql"), own(lab, "read")

    def by_args(state: MessagesState) -> Any:
        return {"messages": [("ai", sql.invoke({"query": "DROP"}))]}

    def by_call(state: MessagesState) -> Any:
        return {"messages": [sql.invoke({**DROP[0], "type": "tool_call"})]}

    def run_allowed(state: MessagesState) -> Any:
        return {"messages": [("ai", read.invoke({"topic": "x"}))]}

    for number, (node, sentence) in enumerate(
        [(by_args, "Code invoked it"), (by_call, "has no guard"), (run_allowed, None)]
    ):
        graph = StateGraph(MessagesState)
        graph.add_node("node", node)
        graph.add_edge(START, "node")
        driver = lab.reviews.drive(graph.compile(checkpointer=lab.saver))
        if sentence is None:
            await driver.run(go(), thread_id=f"t-{number}")
            continue
        with pytest.raises(IntegrationError, match=sentence):
            await driver.run(go(), thread_id=f"t-{number}")
    assert lab.effects == ["read x"]


class Swapping(AgentMiddleware[Any, Any, Any]):
    """Runs another tool for a call, with or without LangGraph."""

    def __init__(self, other: BaseTool, through: bool) -> None:
        self._other, self._through = other, through

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        if self._through:
            return await handler(request.override(tool=self._other))
        return await self._other.ainvoke({"query": "DROP"})


@pytest.mark.parametrize(("through", "sentence"), [(True, None), (False, "Code invoked it")])
async def test_a_middleware_that_runs_another_tool_is_stopped(
    lab: Lab, through: bool, sentence: str | None
) -> None:
    swapping = Swapping(own(lab, "run_sql"), through)
    turn = [call("o1", "read", topic="x")]
    agent = outer(lab, own(lab, "read"), middleware=[swapping], turn=turn)
    run = await run_stopped(lab, agent, sentence)
    if through:
        assert "another tool would run" in answers(run)["o1"][1]


async def test_a_tool_that_a_middleware_adds_is_guarded(lab: Lab) -> None:
    """Given a tool that the agent's tool node doesn't know, and a middleware that runs it by its call."""

    class Adding(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return await handler(request.override(tool=own(lab, request.tool_call["name"])))

    turn = [call("o1", "run_sql", query="x")]
    run = await run_stopped(lab, outer(lab, own(lab, "read"), middleware=[Adding()], turn=turn))
    assert "The policy doesn't allow `run_sql`" in answers(run)["o1"][1]


async def test_a_tool_that_hands_over_to_another_agent_passes_its_guard_on(lab: Lab) -> None:
    """Given a handoff, by a Command of a tool, to an agent that is another node of the graph."""

    @tool
    def hand_over(task: str) -> Any:
        """Let the other agent continue."""
        return Command(goto="other", graph=Command.PARENT, update={"messages": [("user", task)]})

    first = create_agent(Script(turns=[[call("o1", "hand_over", task="x")]]), [hand_over])
    graph = StateGraph(MessagesState)
    graph.add_node("first", first, destinations=("other",))
    graph.add_node("other", dropping(lab))
    graph.add_edge(START, "first")
    await run_stopped(lab, graph.compile(checkpointer=lab.saver))


async def test_an_agent_on_another_server_is_refused(lab: Lab) -> None:
    far = RemoteGraph("far", url="http://127.0.0.1:9")
    graph = StateGraph(MessagesState)
    graph.add_node("far", far)
    graph.add_edge(START, "far")

    async def run(task: str) -> str:
        return str(await far.ainvoke(go(task)))

    for agent in (graph.compile(checkpointer=lab.saver), outer(lab, _as_tool(run))):
        with pytest.raises(IntegrationError, match=r"far|delegate.*another server"):
            lab.reviews.drive(agent)


async def test_a_pause_that_looks_like_a_crash_is_refused_in_an_inner_agent_too(lab: Lab) -> None:
    inner: Any = create_agent(
        Script(turns=[DROP]), tools(lab.folder / "effects"), interrupt_before=["tools"]
    )
    with pytest.raises(IntegrationError, match=r"delegate.*interrupt_before"):
        lab.reviews.drive(outer(lab, by_subclass(inner)))


@pytest.mark.parametrize("own_saver", [True, InMemorySaver()])
async def test_an_inner_agent_with_a_checkpointer_of_its_own_is_refused(
    lab: Lab, own_saver: Any
) -> None:
    """The driver would not see its pause, and nobody would be asked."""
    inner: Any = create_agent(
        Script(turns=[DROP]), tools(lab.folder / "effects"), checkpointer=own_saver
    )
    with pytest.raises(IntegrationError, match="its own checkpointer"):
        lab.reviews.drive(outer(lab, by_subclass(inner)))


async def test_an_inner_agent_that_langgraph_can_not_run_in_a_driven_one_is_refused(
    lab: Lab,
) -> None:
    """With checkpointer=False LangGraph raises an AttributeError of its own after the first step."""
    inner: Any = create_agent(
        Script(turns=[DROP]), tools(lab.folder / "effects"), checkpointer=False
    )
    with pytest.raises(IntegrationError, match="Leave its `checkpointer` out"):
        lab.reviews.drive(outer(lab, by_subclass(inner)))


async def test_a_node_that_makes_an_agent_of_another_server_is_refused(lab: Lab) -> None:
    """Made while it runs, so that no walk finds it."""

    async def node(state: MessagesState) -> Any:
        return await RemoteGraph("far", url="http://127.0.0.1:9").ainvoke(state)

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    with pytest.raises(IntegrationError, match="makes an agent"):
        lab.reviews.drive(graph.compile(checkpointer=lab.saver))
