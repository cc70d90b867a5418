"""Several agents that one task of LangGraph runs: it tells them apart only by the order of their starts."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from hitl_core.errors import IntegrationError
from tests.integrations.agents import Lab, Script, answers, call, go, tools
from tests.integrations.langgraph.pauses.test_lost_pauses import mailer
from tests.integrations.langgraph.pauses.test_own_questions import inbox

BOTH = [call("o1", "ask_one", task="x"), call("o2", "ask_two", task="y")]


def reader(lab: Lab) -> Any:
    """An agent that asks nobody."""
    own = tools(lab.folder / "effects")
    return create_agent(Script(turns=[[call("r1", "read", topic="x")]]), own, name="reader")


async def ask(agent: Any, text: str) -> str:
    return str((await agent.ainvoke(go(text)))["messages"][-2].text)


def asking_tools(one: Any, two: Any) -> list[Any]:
    """Two tools; each runs one of these agents, or calls it if it is a function."""

    async def run(agent: Any, task: str) -> str:
        if inspect.iscoroutinefunction(agent):
            return str(await agent())
        return await ask(agent, task)

    @tool
    async def ask_one(task: str) -> str:
        """Let one agent do it."""
        return await run(one, task)

    @tool
    async def ask_two(task: str) -> str:
        """Let another agent do it."""
        return await run(two, task)

    return [ask_one, ask_two]


def in_one_task(lab: Lab, *own: Any, turn: Any = BOTH) -> Any:
    """A graph whose ToolNode runs all calls of a message in one task."""
    model = Script(turns=[turn])

    async def ask_model(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask_model)
    graph.add_node("tools", ToolNode(own))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return lab.reviews.drive(graph.compile(checkpointer=lab.saver))


def in_one_node(lab: Lab, *agents: Any) -> Any:
    """A graph whose only node runs these agents at once."""

    async def work(state: MessagesState) -> Any:
        texts = await asyncio.gather(*(ask(each, "x") for each in agents))
        return {"messages": [("ai", "; ".join(texts))]}

    graph = StateGraph(MessagesState)
    graph.add_node("work", work)
    graph.add_edge(START, "work")
    return lab.reviews.drive(graph.compile(checkpointer=lab.saver))


def in_one_tool(lab: Lab, *agents: Any) -> Any:
    @tool
    async def delegate(task: str) -> str:
        """Let several agents do it at once."""
        return "; ".join(await asyncio.gather(*(ask(each, task) for each in agents)))

    turn = [call("o1", "delegate", task="x")]
    agent = create_agent(Script(turns=[turn]), [delegate], checkpointer=lab.saver)
    return lab.reviews.drive(agent)


async def check_refused(lab: Lab, driver: Any, match: str) -> None:
    with pytest.raises(IntegrationError, match=match):
        await driver.run(go(), thread_id="t-1")
    assert await lab.all_reviews("t-1") == []
    assert not any(effect.startswith("sent") for effect in lab.effects)


async def test_agents_of_two_calls_in_one_task_are_refused_if_one_pauses(lab: Lab) -> None:
    own = asking_tools(mailer(lab, "one"), mailer(lab, "two"))
    await check_refused(lab, in_one_task(lab, *own), "Send each call to its ToolNode alone")


async def test_an_agent_that_asks_nobody_counts_beside_one_that_pauses(lab: Lab) -> None:
    """LangGraph could give it the saved state of the other one, and the other call its result."""
    has_read, reading = asyncio.Event(), reader(lab)

    async def read() -> str:
        text = await ask(reading, "x")
        has_read.set()
        return text

    async def mail_later() -> str:
        await has_read.wait()
        return await ask(mailing, "y")

    mailing = mailer(lab)
    own = asking_tools(read, mail_later)
    await check_refused(lab, in_one_task(lab, *own), "Send each call to its ToolNode alone")


@tool
async def confirm(what: str) -> str:
    """Ask a person."""
    return str(interrupt(inbox("confirm", {"what": what})))


async def test_a_question_beside_an_agent_of_another_call_is_refused(lab: Lab) -> None:
    own = [*asking_tools(mailer(lab), reader(lab)), confirm]
    turn = [BOTH[0], call("o2", "confirm", what="z")]
    await check_refused(lab, in_one_task(lab, *own, turn=turn), "Send each call")


async def test_no_agent_starts_while_people_answer_the_question_of_a_call_beside_it(
    lab: Lab,
) -> None:
    """LangGraph does not wait for that agent: its run would be a second one of the thread."""
    has_asked, has_ended = asyncio.Event(), asyncio.Event()

    async def read_later() -> str:
        await has_asked.wait()
        try:
            return await ask(reading, "x")
        finally:
            has_ended.set()

    reading = reader(lab)
    own = [*asking_tools(read_later, mailer(lab)), confirm]
    driver = in_one_task(lab, *own, turn=[BOTH[0], call("o2", "confirm", what="z")])
    run = await driver.run(go(), thread_id="t-1")
    has_asked.set()
    await has_ended.wait()
    assert run.review_id
    assert lab.effects == []


@pytest.mark.parametrize("place", [in_one_node, in_one_tool])
async def test_agents_at_once_in_one_function_are_refused_if_one_pauses(
    lab: Lab, place: Any
) -> None:
    driver = place(lab, mailer(lab, "one"), mailer(lab, "two"))
    await check_refused(lab, driver, "runs several agents at once")


@pytest.mark.parametrize("place", [in_one_node, in_one_tool])
async def test_agents_at_once_that_ask_nobody_run(lab: Lab, place: Any) -> None:
    run = await place(lab, reader(lab), reader(lab)).run(go(), thread_id="t-1")
    assert run.finished
    assert lab.effects == ["read x", "read x"]


async def test_agents_of_two_calls_in_one_task_that_ask_nobody_run(lab: Lab) -> None:
    driver = in_one_task(lab, *asking_tools(reader(lab), reader(lab)))
    run = await driver.run(go(), thread_id="t-1")
    assert set(answers(run).values()) == {("success", "read x")}


async def test_one_agent_may_pause_beside_other_calls_of_its_task(lab: Lab) -> None:
    own = [*asking_tools(mailer(lab), reader(lab)), *tools(lab.folder / "effects")]
    driver = in_one_task(lab, *own, turn=[BOTH[0], call("o2", "read", topic="x")])
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert lab.stops[0].finished
    assert answers(lab.stops[0])["o1"] == ("success", "sent a")
