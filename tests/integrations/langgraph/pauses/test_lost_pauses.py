"""If code catches the pause of an inner agent, nobody is asked: the run stops and reports it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, ToolException
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send, interrupt

from hitl_core.errors import IntegrationError
from tests.integrations.agents import Lab, Script, call, go, tools
from tests.integrations.langgraph.pauses.test_nested import decide_each_stop

Delegate = Callable[[Any, str], Awaitable[str]]
MAIL = [call("i1", "send_email", to="a")]


class Other(BaseCallbackHandler):
    """A callback of the application."""


def mailer(lab: Lab, name: str = "mailer", turn: Any = MAIL) -> Any:
    pauses = HumanInTheLoopMiddleware({"send_email": True})
    own = tools(lab.folder / "effects")
    return create_agent(Script(turns=[turn]), own, middleware=[pauses], name=name)


def boss(
    lab: Lab,
    way: Delegate,
    inner: Any,
    *,
    middleware: Any = (),
    asking: Any = None,
    turn: Any = None,
) -> Any:
    """An agent whose tool runs another one in this way."""

    async def delegate(task: str) -> str:
        return await way(inner, task)

    tool = StructuredTool.from_function(coroutine=delegate, name="delegate", description="Go.")
    tool.handle_tool_error = True
    pauses = [HumanInTheLoopMiddleware(asking)] if asking else []
    return create_agent(
        Script(turns=[turn or [call("o1", "delegate", task="x")]]),
        [tool, *tools(lab.folder / "effects")],
        middleware=[*middleware, *pauses],
        checkpointer=lab.saver,
    )


async def plainly(inner: Any, task: str, config: Any = None) -> str:
    return str((await inner.ainvoke(go(task), config))["messages"][-2].text)


async def catching_exception(inner: Any, task: str) -> str:
    try:
        return await plainly(inner, task)
    except Exception as error:
        return f"it failed: {type(error).__name__}"


async def catching_all(inner: Any, task: str) -> str:
    try:
        return await plainly(inner, task)
    except BaseException:
        return "never mind"


async def catching_a_stream(inner: Any, task: str) -> str:
    try:
        return str([chunk async for chunk in inner.astream(go(task))])
    except Exception:
        return "never mind"


async def with_callbacks_of_its_own(inner: Any, task: str) -> str:
    """In a chain with callbacks of its own, so that LangChain doesn't know its caller."""
    chain = RunnableLambda(inner.ainvoke)
    try:
        return str(await chain.ainvoke(go(task), {"callbacks": [Other()]}))
    except Exception:
        return "never mind"


async def falling_back(inner: Any, task: str) -> str:
    chain = inner.with_fallbacks([RunnableLambda(lambda given: {"messages": []})])
    return str(await chain.ainvoke(go(task)))


async def gathering(inner: Any, task: str) -> str:
    return str(await asyncio.gather(plainly(inner, task), return_exceptions=True))


async def in_a_sync_thread(inner: Any, task: str) -> str:
    def run() -> str:
        try:
            return str(inner.invoke(go(task)))
        except Exception:
            return "never mind"

    return await asyncio.to_thread(run)


async def under_a_thread_of_its_own(inner: Any, task: str) -> str:
    return str(await inner.ainvoke(go(task), {"configurable": {"thread_id": "another"}}))


async def raising_another(inner: Any, task: str) -> str:
    try:
        return await plainly(inner, task)
    except Exception as error:
        raise ToolException("it failed") from error


SWALLOWING = [
    catching_exception,
    catching_all,
    catching_a_stream,
    with_callbacks_of_its_own,
    falling_back,
    gathering,
    in_a_sync_thread,
    raising_another,
    under_a_thread_of_its_own,
]


@pytest.mark.parametrize("way", SWALLOWING)
async def test_a_tool_that_catches_its_agents_pause_is_an_error(lab: Lab, way: Delegate) -> None:
    """Given a tool that catches the pause of an agent in it, then nothing runs, the run stops there and
    doesn't finish, and the error names both."""
    driver = lab.reviews.drive(boss(lab, way, mailer(lab)))
    with pytest.raises(IntegrationError, match=r"caught the pause.*GraphBubbleUp"):
        await driver.run(go(), thread_id="t-1")
    assert (lab.effects, await lab.all_reviews("t-1")) == ([], [])


async def test_a_lost_pause_after_an_approval_is_reported_by_the_stop(lab: Lab) -> None:
    """Given an approved tool that swallows the pause of its agent, then `serve` reports a refused stop with
    the error text, and the card says that the tool failed."""
    agent = boss(lab, catching_exception, mailer(lab), asking={"delegate": True})
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        review = await lab.done(run.review_id)
    [stop] = lab.stops
    assert (stop.finished, "pause of `mailer`" in str(stop.refusal)) == (False, True)
    assert "failed" in str(review.runs["1"].line)
    assert lab.effects == []


async def test_a_corrected_tool_continues_after_a_lost_pause(lab: Lab) -> None:
    """Given a run that stopped so, when the tool lets the pause through, then it asks, and runs."""
    ways: list[Delegate] = [catching_exception]

    async def changing(inner: Any, task: str) -> str:
        return await ways[-1](inner, task)

    driver = lab.reviews.drive(boss(lab, changing, mailer(lab)))
    with pytest.raises(IntegrationError):
        await driver.run(go(), thread_id="t-1")
    ways.append(plainly)
    async with lab.serving(driver):
        run = await driver.run(None, thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert lab.effects == ["sent a"]
    assert lab.stops[-1].finished


class Catching(AgentMiddleware[Any, Any, Any]):
    """Handles errors of tools as LangChain's documentation shows."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except Exception as error:
            return ToolMessage(f"Tool error: {error}", tool_call_id=request.tool_call["id"])


async def test_a_middleware_or_a_node_that_loses_a_pause_is_an_error(lab: Lab) -> None:
    inner = mailer(lab)

    async def node(state: MessagesState) -> Any:
        return {"messages": [("ai", await catching_exception(inner, "x"))]}

    def spread(state: MessagesState) -> list[Send]:
        return [Send("node", state)]

    graph: Any = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_conditional_edges(START, spread, ["node"])
    agents = [
        graph.compile(checkpointer=lab.saver),
        boss(lab, plainly, inner, middleware=[Catching()]),
    ]
    for number, agent in enumerate(agents):
        with pytest.raises(IntegrationError, match="caught the pause"):
            await lab.reviews.drive(agent).run(go(), thread_id=f"t-{number}")
    assert lab.effects == []


async def test_of_two_agents_the_one_with_the_lost_pause_is_named(lab: Lab) -> None:
    """Given two tools side by side, of which one lets its agent's pause through, then the run still says that
    the other one's was lost."""
    first, second = mailer(lab, "first"), mailer(lab, "second")

    async def both(inner: Any, task: str) -> str:
        return await (plainly(first, task) if task == "1" else catching_exception(second, task))

    turn = [call("o1", "delegate", task="1"), call("o2", "delegate", task="2")]
    driver = lab.reviews.drive(boss(lab, both, (first, second), turn=turn))
    with pytest.raises(IntegrationError, match="pause of `second`"):
        await driver.run(go(), thread_id="t-1")
    assert lab.effects == []


async def test_a_pause_of_a_retried_agent_is_not_lost(lab: Lab) -> None:
    """Given an agent that is tried again after other errors, then its pause is asked about."""
    retried = mailer(lab).with_retry(retry_if_exception_type=(ValueError,), stop_after_attempt=2)
    driver = lab.reviews.drive(boss(lab, plainly, retried))
    await decide_each_stop(lab, driver, ("approve",))
    assert lab.effects == ["sent a"]


async def in_a_task_of_its_own(inner: Any, task: str) -> str:
    work = asyncio.get_running_loop().create_task(
        plainly(inner, task), context=contextvars.Context()
    )
    return await work


async def in_an_executor(inner: Any, task: str) -> str:
    loop = asyncio.get_running_loop()
    return str(await loop.run_in_executor(None, inner.invoke, go(task)))


@pytest.mark.parametrize("way", [in_a_task_of_its_own, in_an_executor])
async def test_an_agent_that_pauses_outside_of_its_run_is_an_error(lab: Lab, way: Delegate) -> None:
    """Given a tool that runs its agent in a thread or task without the run's context, where LangGraph saves
    no pause, then the agent raises and doesn't seem to end normally."""
    driver = lab.reviews.drive(boss(lab, way, mailer(lab)))
    with pytest.raises(IntegrationError, match="`mailer` paused, and no checkpointer"):
        await driver.run(go(), thread_id="t-1")
    assert (lab.effects, await lab.all_reviews("t-1")) == ([], [])


ASK = {"action_request": {"action": "pay", "args": {}}, "config": {"allow_accept": True}}


async def asking_and_catching(inner: Any, task: str) -> str:
    try:
        return str(interrupt(ASK))
    except Exception:
        return "never mind"


async def test_a_tool_that_catches_its_own_question_is_an_error(lab: Lab) -> None:
    driver = lab.reviews.drive(boss(lab, asking_and_catching, None))
    with pytest.raises(IntegrationError, match=r"interrupt\(\) in delegate"):
        await driver.run(go(), thread_id="t-1")


async def test_a_middleware_that_catches_what_langchain_asks_per_call_is_an_error(lab: Lab) -> None:
    """Given a middleware around LangChain's pauses that handles the errors of tools, then the question that
    it catches is reported; inside of them the middleware does no harm."""
    orders: list[dict[str, Any]] = [{"before": [Catching()]}, {"between": [Catching()]}]
    for number, order in enumerate(orders):
        agent = lab.agent(MAIL, interrupt_mode="per_call", **order)
        driver = lab.reviews.drive(agent)
        if "before" in order:
            with pytest.raises(IntegrationError, match="a middleware around it"):
                await driver.run(go(), thread_id=f"t-{number}")
        else:
            await decide_each_stop(lab, driver, ("approve",))
    assert lab.effects == ["sent a"]


async def test_an_agent_without_a_checkpointer_that_pauses_says_so(lab: Lab) -> None:
    """Given an agent that is guarded and run by the application, where no pause is saved."""
    with pytest.raises(IntegrationError, match="paused, and no checkpointer"):
        await lab.reviews.guard(mailer(lab)).ainvoke(go())
    assert lab.effects == []
