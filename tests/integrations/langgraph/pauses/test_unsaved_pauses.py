"""An inner agent that pauses where no checkpointer saves its pause. What counts is whether something saves
it; a `thread_id` doesn't show that.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from hitl_core.errors import IntegrationError
from tests.integrations.agents import Lab, go
from tests.integrations.langgraph.pauses.test_lost_pauses import (
    Delegate,
    Other,
    boss,
    mailer,
    plainly,
)
from tests.support.waiting import wait_until


@pytest.fixture(autouse=True)
async def tasks_end() -> AsyncIterator[None]:
    yield
    await asyncio.gather(*STARTED, return_exceptions=True)
    STARTED.clear()


THREAD: Any = {"configurable": {"thread_id": "own"}}
#: Kept, because asyncio holds its tasks only weakly.
STARTED: list[asyncio.Task[Any]] = []


def in_no_context(config: Any, change: Callable[[Any], Any] = lambda inner: inner) -> Delegate:
    async def way(inner: Any, task: str) -> str:
        work = change(inner).ainvoke(go(task), config)
        empty = contextvars.Context()
        return str(await asyncio.get_running_loop().create_task(work, context=empty))

    return way


def in_an_executor(config: Any) -> Delegate:
    async def way(inner: Any, task: str) -> str:
        loop = asyncio.get_running_loop()
        return str(await loop.run_in_executor(None, inner.invoke, go(task), config))

    return way


def in_the_context(config: Any, saver: Any = None) -> Delegate:
    async def way(inner: Any, task: str) -> str:
        return await plainly(inner.copy(update={"checkpointer": saver}), task, config)

    return way


async def in_a_loop_of_a_thread(inner: Any, task: str) -> str:
    def run() -> str:
        with contextlib.suppress(BaseException):
            return str(asyncio.run(inner.ainvoke(go(task))))
        return "never mind"

    return await asyncio.to_thread(run)


async def in_a_task_that_goes_on(inner: Any, task: str) -> str:
    STARTED.append(asyncio.create_task(inner.ainvoke(go(task))))
    await asyncio.wait(STARTED[-1:])
    return "started"


async def catching_events(inner: Any, task: str) -> str:
    with contextlib.suppress(BaseException):
        return str([each async for each in inner.astream_events(go(task), version="v2")])
    return "never mind"


async def in_a_batch(inner: Any, task: str) -> str:
    return str(await inner.abatch([go(task), go(task)], return_exceptions=True))


def as_a_node(inner: Any) -> Any:
    """In a graph of the application, which nobody guards and which has no checkpointer."""
    graph: Any = StateGraph(MessagesState)
    graph.add_node("mailer", inner)
    graph.add_edge(START, "mailer")
    return graph.compile()


@entrypoint()
async def workflow(given: Any) -> Any:
    """A graph of LangGraph's functional API."""
    return interrupt("May I?")


LOST: dict[str, Delegate] = {
    "a thread": in_no_context(THREAD),
    "a namespace": in_no_context({"configurable": {"checkpoint_ns": "x"}}),
    "a checkpoint": in_no_context({"configurable": {"checkpoint_id": "x"}}),
    "metadata": in_no_context({"metadata": {"thread_id": "own"}}),
    "callbacks": in_no_context({**THREAD, "callbacks": [Other()]}),
    "a manager": in_no_context({**THREAD, "callbacks": AsyncCallbackManager([])}),
    "a config": in_no_context(
        None, lambda inner: inner.with_config({"callbacks": [], "configurable": {"thread_id": "z"}})
    ),
    "no saver": in_no_context(THREAD, lambda inner: inner.copy(update={"checkpointer": False})),
    "no saver handed over": in_no_context(
        {"configurable": {"thread_id": "own", "__pregel_checkpointer": None}}
    ),
    "a chain": in_no_context(THREAD, lambda inner: RunnableLambda(lambda given: given) | inner),
    "a retry": in_no_context(THREAD, lambda inner: inner.with_retry(stop_after_attempt=2)),
    "a node": in_no_context(THREAD, as_a_node),
    "a workflow": in_no_context(THREAD, lambda inner: workflow),
    "an executor": in_an_executor(None),
    "an executor and a thread": in_an_executor(THREAD),
    "in the context, a thread": in_the_context(
        {"configurable": {"thread_id": "own", "checkpoint_ns": ""}}
    ),
    "in the context, a saver": in_the_context(THREAD, InMemorySaver()),
    "in the context, a saver handed over": in_the_context(
        {
            "configurable": {
                **THREAD["configurable"],
                "checkpoint_ns": "",
                "__pregel_checkpointer": InMemorySaver(),
                "__pregel_scratchpad": None,
            }
        }
    ),
    "a loop": in_a_loop_of_a_thread,
    "a task": in_a_task_that_goes_on,
    "events": catching_events,
    "a batch": in_a_batch,
}


@pytest.mark.parametrize("way", LOST.values(), ids=LOST.keys())
async def test_a_pause_that_nobody_saves_is_an_error(lab: Lab, way: Delegate) -> None:
    """Given an inner agent that pauses where the driver can't see it, whatever its config says, then the run
    raises in place of finishing, nothing runs, and nobody is asked."""
    lab.saver = InMemorySaver()  # a durable one works in one event loop only
    driver = lab.reviews.drive(boss(lab, way, mailer(lab)), allow_in_memory=True)
    with pytest.raises(IntegrationError, match="pause"):
        await driver.run(go(), thread_id="t-1")
    assert (lab.effects, await lab.all_reviews("t-1")) == ([], [])


async def streaming_events(inner: Any, task: str) -> str:
    return str([each async for each in inner.astream_events(go(task), version="v2")])


async def test_a_pause_that_goes_up_is_asked_about(lab: Lab) -> None:
    driver = lab.reviews.drive(boss(lab, streaming_events, mailer(lab)))
    run = await driver.run(go(), thread_id="t-1")
    assert (run.finished, len(run.review_ids), lab.effects) == (False, 1, [])


async def leaving_a_stream(inner: Any, task: str) -> str:
    async for _ in inner.astream(go(task)):
        break
    return "enough"


async def test_an_agent_that_its_tool_stops_before_its_pause_is_no_error(lab: Lab) -> None:
    """Given a tool that reads one chunk, so that the agent in it never comes to its pause."""
    run = await lab.reviews.drive(boss(lab, leaving_a_stream, mailer(lab))).run(
        go(), thread_id="t-1"
    )
    assert (run.finished, lab.effects) == (True, [])


@pytest.mark.parametrize("where", ["its own", "handed over"])
async def test_a_pause_that_another_checkpointer_saves_is_no_error(lab: Lab, where: str) -> None:
    """Given a copy with a checkpointer, as an agent server makes one, then its pause is saved there."""
    saver = InMemorySaver()
    if where == "its own":
        way = in_no_context(THREAD, lambda inner: inner.copy(update={"checkpointer": saver}))
    else:
        way = in_no_context({"configurable": {"thread_id": "own", "__pregel_checkpointer": saver}})
    run = await lab.reviews.drive(boss(lab, way, mailer(lab))).run(go(), thread_id="t-1")
    assert (run.finished, lab.effects) == (True, [])
    saved = saver.get_tuple({"configurable": {"thread_id": "own", "checkpoint_ns": ""}})
    assert saved is not None
    assert any(channel == "__interrupt__" for _, channel, _ in saved.pending_writes or ())


async def started_and_left(inner: Any, task: str) -> str:
    work = inner.ainvoke(go(task), THREAD)
    loop = asyncio.get_running_loop()
    STARTED.append(loop.create_task(work, context=contextvars.Context()))
    return "started"


async def catching_in_a_thread(inner: Any, task: str) -> str:
    def run() -> None:
        with contextlib.suppress(BaseException):
            inner.invoke(go(task), THREAD)

    thread = threading.Thread(target=run)
    thread.start()
    await asyncio.to_thread(thread.join)
    return "never mind"


async def catching_in_a_loop(inner: Any, task: str) -> str:
    def run() -> None:
        with contextlib.suppress(BaseException):
            asyncio.run(inner.ainvoke(go(task), THREAD))

    await asyncio.get_running_loop().run_in_executor(None, run)
    return "never mind"


@pytest.mark.parametrize("way", [started_and_left, catching_in_a_thread, catching_in_a_loop])
async def test_a_pause_of_which_the_run_can_know_nothing_is_in_the_log(
    lab: Lab, way: Delegate, caplog: pytest.LogCaptureFixture
) -> None:
    """Given an agent in a thread or task without the run's context whose error nobody waits for, or that
    catches it, then nothing runs, and the log says so: as the documentation has it."""
    run = await lab.reviews.drive(boss(lab, way, mailer(lab))).run(go(), thread_id="t-1")

    async def logged() -> bool:
        return "`mailer` paused, and no checkpointer saved the pause" in caplog.text

    await wait_until("the log has it", logged)
    assert (run.finished, lab.effects) == (True, [])


@pytest.mark.parametrize("config", [None, THREAD])
async def test_a_guarded_agent_without_a_checkpointer_that_pauses_says_so(
    lab: Lab, config: Any
) -> None:
    with pytest.raises(IntegrationError, match="paused, and no checkpointer"):
        await lab.reviews.guard(mailer(lab)).ainvoke(go(), config)
    assert lab.effects == []
