"""Other code forks a thread, and the driver continues the fork."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integrations.agents import Lab, answers, call, go

THREAD: Any = {"configurable": {"thread_id": "t-1"}}


@pytest.mark.parametrize(
    ("decision", "effect"),
    [("approve", "sent a"), ({"to": "b"}, "sent b")],
    ids=["as is", "edited"],
)
async def test_the_model_of_a_fork_reads_that_the_call_has_run(
    lab: Lab, decision: Any, effect: str
) -> None:
    """Given a call that ran, when its thread is forked right before the tool and the driver continues it,
    then the tool does not run again, and the model reads its result, not that it was not executed: it would
    call again."""
    agent = lab.agent([call("c1", "send_email", to="a")], edit_notice=None)
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, decision)
        await lab.done(paused.review_id)
    history = [state async for state in agent.aget_state_history(THREAD)]
    await agent.aupdate_state(next(s for s in history if s.next == ("tools",)).config, None)
    run = await driver.run(None, thread_id="t-1")
    assert run.finished
    assert lab.effects == [effect]
    assert answers(run) == {"c1": ("success", f"Result of `send_email`: {effect}")}


async def test_the_model_of_a_fork_reads_that_an_unfinished_call_may_have_run(lab: Lab) -> None:
    """Given an approved call that runs, when other code forks the thread right before the tool and continues
    it, then the model reads that nobody knows yet whether the call ran."""
    seen: list[Any] = []

    async def fork() -> None:
        history = [state async for state in agent.aget_state_history(THREAD)]
        before = next(state for state in history if state.next == ("tools",))
        seen.append((await agent.ainvoke(None, before.config))["messages"])

    agent = lab.agent([call("c1", "send_email", to="a")], during=fork)
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    assert lab.effects == ["sent a"]
    [messages] = seen
    assert [m.text for m in messages if m.type == "tool"] == [
        "Whether `send_email` ran is not known. Do not retry it."
    ]
