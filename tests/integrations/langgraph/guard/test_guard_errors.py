"""An error that stops the guard itself, for example of the store, reaches the driver. No retry or error
handler around the tools turns it into an answer for the model.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware, ToolRetryMiddleware
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt

from hitl_core.errors import IntegrationError
from tests.integrations.agents import Lab, Script, answers, call, go, tools
from tests.integrations.langgraph.pauses.test_lost_pauses import boss, mailer
from tests.support.waiting import wait_until


def retry() -> ToolRetryMiddleware:
    return ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)


def handle_errors() -> ToolErrorMiddleware:
    return ToolErrorMiddleware(lambda error, request: f"failed: {error}")


@pytest.mark.parametrize("around", [retry, handle_errors])
@pytest.mark.parametrize("where", ["before", "between"])
async def test_a_run_that_lost_its_lease_does_not_go_on(lab: Lab, around: Any, where: str) -> None:
    """Given a process that loses its lease while the tool runs, then it doesn't tell the model that the tool
    failed, and the person's word about the call does."""

    async def during() -> None:
        await lab.end_lease(run.review_id)

    turn = [call("c1", "send_email", to="a")]
    agent = lab.agent(turn, during=during, **{where: [around()]})
    driver = lab.reviews.drive(agent)
    run = await driver.run(go(), thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")

        async def is_in_doubt() -> bool:
            return bool((await lab.review(run.review_id)).calls_in_doubt)

        await wait_until("a person is asked", is_in_doubt)
        state = await agent.aget_state({"configurable": {"thread_id": "t-1"}})
        assert [m for m in state.values["messages"] if isinstance(m, ToolMessage)] == []
        await lab.resolve(run.review_id, "ran")
        await lab.done(run.review_id)
    assert lab.effects == ["sent a"]
    [answer] = [m for m in lab.stops[-1].state["messages"] if isinstance(m, ToolMessage)]
    assert "its result was lost" in answer.text


async def catches(inner: Any, task: str) -> str:
    """As an application's tool may be written: no error of the agent inside stops the one around it."""
    try:
        state = await inner.ainvoke(go(task))
    except GraphInterrupt:
        raise
    except Exception as error:
        return f"failed: {error}"
    return state["messages"][-1].text


async def test_an_approved_call_that_the_agent_did_not_start_is_told(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an approved call that could not be started, and code around it that catches the error and goes
    on, then its card says that it was not executed."""
    driver = lab.reviews.drive(boss(lab, catches, mailer(lab)))
    run = await driver.run(go(), thread_id="t-1")
    monkeypatch.setenv("HITL_FAILPOINTS", "gate.before_once=raise")
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        review = await lab.done(run.review_id)
    assert "failed: The review guard failed" in answers(lab.stops[-1])["o1"][1]
    assert lab.effects == []
    assert review.runs["1"].line == "not executed: the agent did not start it"


async def test_a_guard_that_is_cancelled_stops_a_sync_run(lab: Lab) -> None:
    """Given an agent that runs in a thread, when the gate's loop ends while the guard checks a call, then the
    run stops, and the model is not told that the tool failed."""
    asked, never = asyncio.Event(), asyncio.Event()

    async def ask(args: Any) -> bool:
        asked.set()
        await never.wait()
        return False

    rule = {"allowed_decisions": ["approve", "reject"], "when": ask}
    lab.set_policy(default="allow", interrupt_on={"read": rule})
    agent = lab.reviews.guard(
        create_agent(
            Script(turns=[[call("c1", "read", topic="x")]]),
            tools(lab.folder / "effects"),
            middleware=[handle_errors()],
        )
    )
    before = asyncio.all_tasks()
    run = asyncio.create_task(asyncio.to_thread(agent.invoke, go()))
    await asked.wait()
    for task in asyncio.all_tasks() - before - {run}:
        task.cancel()
    with pytest.raises(IntegrationError, match="The review guard failed"):
        await run
