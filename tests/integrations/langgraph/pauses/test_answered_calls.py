"""LangChain's middlewares can answer a call themselves, before or after people are asked about it."""

from __future__ import annotations

from langchain.agents.middleware import ToolCallLimitMiddleware

from hitl_core.gate import answers as answers_of
from tests.integrations.agents import Lab, answers, call, go

ONE = ToolCallLimitMiddleware(run_limit=1)
TWO_MAILS = [call("c1", "send_email", to="a"), call("c2", "send_email", to="b")]


async def test_nobody_is_asked_about_a_call_that_the_agent_has_answered_itself(lab: Lab) -> None:
    """Given a limit of one call that answers the second call before LangChain asks, then people see only the
    first one, it runs, and each call has one answer."""
    driver = lab.driver(TWO_MAILS, between=[ONE])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        asked = [
            action.request.tool_call_id for action in (await lab.review(paused.review_id)).actions
        ]
        await lab.decide(paused.review_id, "approve")
        review = await lab.done(paused.review_id)
    assert asked == ["c1"]
    assert lab.effects == ["sent a"]
    messages = [m for m in lab.stops[0].state["messages"] if m.type == "tool"]
    assert sorted(m.tool_call_id for m in messages) == ["c1", "c2"]
    assert [c.verdict.kind for c in review.calls] == ["review", "deny"]


async def test_a_turn_whose_calls_are_all_answered_goes_on_alone(lab: Lab) -> None:
    driver = lab.driver([call("c0", "read", topic="x")], TWO_MAILS, between=[ONE])
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.done(run.review_id)
    assert lab.effects == ["read x"]
    assert lab.stops[0].finished
    assert {status for status, _ in answers(lab.stops[0]).values()} == {"success", "error"}


async def test_nobody_reads_that_an_approved_call_ran_that_was_not_started(lab: Lab) -> None:
    """Given a limit that answers a call after people have approved it, then neither the card nor a model
    reads that it ran."""
    driver = lab.driver(TWO_MAILS, before=[ONE])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve", "approve")
        review = await lab.done(paused.review_id)
    assert lab.effects == ["sent a"]
    assert review.runs["2"].line == "not executed: the agent did not start it"
    assert answers_of(review)[1].content == (
        "Result of `send_email`: not executed: the agent did not start it"
    )
