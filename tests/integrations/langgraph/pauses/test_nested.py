"""Inner agents, as a node of a graph or run by a tool. A review says through which agents it came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from hitl_core.errors import IntegrationError
from tests.integrations.agents import Lab, Script, answers, call, go, tools
from tests.support.waiting import wait_until

INNER = [
    call("i1", "send_email", to="a"),
    call("i2", "read", topic="x"),
    call("i3", "send_email", to="b"),
]
OUTER = [call("o1", "delegate", task="mail")]
MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])


def agent(
    lab: Lab,
    turns: Sequence[Any],
    *,
    name: str | None = None,
    mode: Any = "batched",
    with_tools: Sequence[Any] = (),
    asking: Any = None,
    saver: Any = None,
) -> Any:
    pauses = HumanInTheLoopMiddleware(asking or {"send_email": True}, interrupt_mode=mode)
    return create_agent(
        Script(turns=list(turns)),
        [*tools(lab.folder / "effects"), *with_tools],
        middleware=[pauses],
        name=name,
        checkpointer=saver,
    )


def delegating(*agents: Any) -> Any:
    @tool
    async def delegate(task: str) -> str:
        """Let other agents do it, one after the other."""
        text = [(await each.ainvoke(go(task)))["messages"][-2].text for each in agents]
        return "; ".join(text)

    return delegate


async def decide_each_stop(lab: Lab, driver: Any, *decisions: Any) -> None:
    """Each entry is one stop: the decisions on its reviews."""
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        for number, each in enumerate(decisions):
            [review_id] = run.review_ids
            await lab.decide(review_id, *each)
            await lab.done(review_id)
            await wait_until("the next stop", lambda number=number: len(lab.stops) > number)
            run = lab.stops[number]
    assert run.finished


@MODES
async def test_an_agent_that_a_tool_runs_is_reviewed_turn_by_turn(lab: Lab, mode: str) -> None:
    """Given an agent inside a tool, which asks in two turns, then each is one review that names it, edits and
    rejections work as usual, and nothing runs that nobody approved."""
    inner = agent(lab, [INNER, [call("j1", "send_email", to="c")]], name="mailer", mode=mode)
    outer = agent(lab, [OUTER], name="boss", with_tools=[delegating(inner)], saver=lab.saver)
    driver = lab.reviews.drive(outer)
    await decide_each_stop(lab, driver, ({"to": "E"}, ("reject", "no")), ("approve",))
    second, first = sorted(await lab.all_reviews("t-1"), key=lambda review: -review.created_at)
    assert (first.path, second.path) == (("mailer",), ("mailer",))
    assert [c.tool_call_id for c in first.calls] == ["i1", "i2", "i3"]
    assert [c.verdict.kind for c in first.calls] == ["review", "allow", "review"]
    assert {key: run.line for key, run in first.runs.items()} == {"1": "sent E"}
    assert sorted(set(lab.effects)) == ["read x", "sent E", "sent c"]
    assert [lab.effects.count(f"sent {to}") for to in "Ec"] == [1, 1]
    assert answers(lab.stops[-1])["o1"] == ("success", "sent c")


async def test_a_reviewed_tool_may_run_an_agent_that_is_reviewed_itself(lab: Lab) -> None:
    """Given a tool that has to be approved and runs an agent that asks, then these are two reviews, and the
    inner call runs once."""
    inner = agent(lab, [INNER[:1]], name="mailer")
    outer = agent(
        lab,
        [OUTER],
        with_tools=[delegating(inner)],
        asking={"delegate": True},
        saver=lab.saver,
    )
    driver = lab.reviews.drive(outer)
    await decide_each_stop(lab, driver, ("approve",), ("approve",))
    assert lab.effects == ["sent a"]
    assert answers(lab.stops[-1])["o1"] == ("success", "sent a")


async def test_two_tools_that_run_agents_side_by_side_wait_for_reviews_of_their_own(
    lab: Lab,
) -> None:
    inner = agent(lab, [INNER[:1]], name="mailer")
    turn = [*OUTER, call("o2", "delegate", task="more"), call("o3", "read", topic="q")]
    driver = lab.reviews.drive(agent(lab, [turn], with_tools=[delegating(inner)], saver=lab.saver))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        assert len(run.review_ids) == 2
        first, second = run.review_ids
        await lab.decide(second, ("reject", "no"))
        await lab.done(second)
        assert "sent a" not in lab.effects
        await lab.decide(first, "approve")
        await wait_until("the end", lambda: lab.stops and lab.stops[-1].finished)
    assert sorted(lab.effects) == ["read q", "sent a"]
    assert "with reason: no" in answers(lab.stops[-1])["o2"][1]


async def test_agents_that_a_tool_runs_one_after_the_other_are_both_reviewed(lab: Lab) -> None:
    one = agent(lab, [INNER[:1]], name="one")
    two = agent(lab, [[call("k1", "send_email", to="k")]], name="two")
    driver = lab.reviews.drive(
        agent(lab, [OUTER], with_tools=[delegating(one, two)], saver=lab.saver)
    )
    await decide_each_stop(lab, driver, ("approve",), ("approve",))
    assert lab.effects == ["sent a", "sent k"]
    assert {review.path for review in await lab.all_reviews("t-1")} == {("one",), ("two",)}


async def test_an_agent_in_an_agent_in_an_agent_is_reviewed_and_named(lab: Lab) -> None:
    innermost = agent(lab, [INNER[:1]], name="mailer")
    middle = agent(lab, [OUTER], name="clerk", with_tools=[delegating(innermost)])
    outer = agent(lab, [OUTER], name="boss", with_tools=[delegating(middle)], saver=lab.saver)
    await decide_each_stop(lab, lab.reviews.drive(outer), ("approve",))
    [review] = await lab.all_reviews("t-1")
    assert review.path == ("clerk", "mailer")
    assert lab.effects == ["sent a"]


async def test_an_agent_in_a_graph_that_a_tool_runs_is_reviewed(lab: Lab) -> None:
    """Given two calls of a tool that runs a graph with an agent as a node of a graph, then each has a review,
    and its agent runs what was approved."""
    graph = StateGraph(MessagesState)
    graph.add_node("mail", agent(lab, [INNER[:1]], name="mailer"))
    graph.add_edge(START, "mail")
    around = StateGraph(MessagesState)
    around.add_node("office", graph.compile())
    around.add_edge(START, "office")
    turn = [call("o1", "delegate", task="mail"), call("o2", "delegate", task="mail")]
    outer = agent(lab, [turn], with_tools=[delegating(around.compile())], saver=lab.saver)
    driver = lab.reviews.drive(outer)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        assert len(run.review_ids) == 2
        for review_id in run.review_ids:
            await lab.decide(review_id, "approve")
            review = await lab.done(review_id)
            assert review.path == ("tools", "office", "mailer")
    await wait_until("the end", lambda: any(stop.finished for stop in lab.stops))
    assert lab.effects == ["sent a", "sent a"]


async def test_a_graph_in_a_tool_that_nothing_guards_is_left_alone(lab: Lab) -> None:
    """Given a tool that runs a graph whose node asks, then that is not ours: after a crash the graph would
    continue from its own state, and not get people's answers."""

    def node(state: MessagesState) -> dict[str, Any]:
        action = {"action": "book", "args": {}}
        interrupt({"action_request": action, "config": {"allow_accept": True}})
        return {"messages": []}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    outer = agent(lab, [OUTER], with_tools=[delegating(graph.compile())], saver=lab.saver)
    run = await lab.reviews.drive(outer).run(go(), thread_id="t-1")
    assert (run.review_ids, len(run.unknown)) == ((), 1)


async def test_a_tool_may_ask_after_its_agent_ended(lab: Lab) -> None:
    """Given a tool that runs an agent, which is reviewed, and then asks itself, then that is a review of its
    own, and neither the agent nor its tool runs again."""
    inner = agent(lab, [INNER[:1]], name="mailer")

    @tool
    async def delegate(task: str) -> str:
        """Ask after the other agent."""
        message = (await inner.ainvoke(go(task)))["messages"][-2].text
        action = {"action": "publish", "args": {"what": message}}
        [answer] = interrupt([{"action_request": action, "config": {"allow_accept": True}}])
        return f"{message}, {answer['type']}"

    driver = lab.reviews.drive(agent(lab, [OUTER], with_tools=[delegate], saver=lab.saver))
    await decide_each_stop(lab, driver, ("approve",), ("approve",))
    assert {review.path for review in await lab.all_reviews("t-1")} == {("mailer",), ()}
    assert lab.effects == ["sent a"]
    assert answers(lab.stops[-1])["o1"] == ("success", "sent a, accept")


async def test_a_tool_of_an_inner_agent_that_asks_itself_is_reviewed(lab: Lab) -> None:
    """Given a tool of an inner agent that interrupts, then that is a review, with the agent's name."""

    @tool
    def book(to: str) -> str:
        """Ask before booking."""
        action = {"action": "book", "args": {"to": to}}
        return str(
            interrupt({"action_request": action, "config": {"allow_respond": True}})[0]["args"]
        )

    inner = agent(lab, [[call("i1", "book", to="a")]], name="clerk", with_tools=[book])
    outer = agent(lab, [OUTER], with_tools=[delegating(inner)], saver=lab.saver)
    await decide_each_stop(lab, lab.reviews.drive(outer), (("respond", "room 7"),))
    [review] = await lab.all_reviews("t-1")
    assert (review.path, review.dialect) == (("clerk",), "agent_inbox")
    assert answers(lab.stops[-1])["o1"] == ("success", "room 7")


async def test_a_graph_in_a_graph_is_named_by_its_nodes(lab: Lab) -> None:
    """Given an agent without a name, as a node of a graph that is a node itself, then the path has the nodes;
    a name of its own counts more."""
    for name, path in ((None, ("team", "writer")), ("scribe", ("team", "scribe"))):
        team = StateGraph(MessagesState)
        team.add_node("writer", agent(lab, [INNER[:1]], name=name))
        team.add_edge(START, "writer")
        whole = StateGraph(MessagesState)
        whole.add_node("team", team.compile())
        whole.add_edge(START, "team")
        driver = lab.reviews.drive(whole.compile(checkpointer=lab.saver))
        run = await driver.run(go(), thread_id=f"t-{name}")
        assert (await lab.review(run.review_id)).path == path


async def test_an_agent_that_a_task_runs_is_not_taken_for_a_question_of_the_task(lab: Lab) -> None:
    """Its state is not where agents are looked for, so `once` could not guard its tools."""
    inner = agent(lab, [INNER])

    @task
    async def work() -> Any:
        return (await inner.ainvoke(go()))["messages"][-1].text

    @entrypoint(checkpointer=lab.saver)
    async def flow(given: Any) -> Any:
        return {"said": await work()}

    with pytest.raises(IntegrationError, match="@task"):
        await lab.reviews.drive(flow).run({"messages": []}, thread_id="t-1")
    assert await lab.all_reviews("t-1") == []
    assert lab.effects == []


async def test_a_node_of_an_inner_graph_may_ask_in_langchains_words(lab: Lab) -> None:
    """Its question is its own, however deep it is."""

    def node(state: MessagesState) -> Any:
        rule = {"action_name": "pay", "allowed_decisions": ["approve", "reject"]}
        ask = {"action_requests": [{"name": "pay", "args": {"to": "a"}}], "review_configs": [rule]}
        return {"messages": [("ai", interrupt(ask)["decisions"][0]["type"])]}

    inner = StateGraph(MessagesState)
    inner.add_node("node", node)
    inner.add_edge(START, "node")
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner.compile())
    graph.add_edge(START, "inner")
    driver = lab.reviews.drive(graph.compile(checkpointer=lab.saver))
    await decide_each_stop(lab, driver, ["approve"])
    assert lab.stops[-1].state["messages"][-1].text == "approve"
