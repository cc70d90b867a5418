"""A run that can't continue after the decision: its card says so until it continues."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.types import Command

from bot.card import PlaceNames, build_card, card_text, plain_text
from hitl_core.errors import Refused, StoreError
from hitl_core.integrations.langgraph import Driver, Run
from hitl_core.model import Place
from tests.integrations.agents import Lab, Script, answers, call, go, tools
from tests.integrations.langgraph.driver.test_settings import User, asking
from tests.support.waiting import wait_until

DEFAULT = Place("default")


async def wait_until_told(lab: Lab, review_id: str | None) -> None:
    async def is_told() -> bool:
        return (await lab.review(review_id)).agent_problem is not None

    await wait_until("it is told", is_told)


async def test_people_are_told_that_a_decided_run_can_not_go_on(lab: Lab) -> None:
    """Given a decided run that this process can't continue, again and again, then its card says so, and
    when another process has finished it, it does no longer."""
    run = await asking(lab).run(go(), thread_id="t-1", context=User("Ann"))
    await lab.decide(run.review_id, "approve")
    async with lab.serving(asking(Lab(lab.gate, lab.saver, lab.folder))):
        await wait_until_told(lab, run.review_id)
    review = await lab.review(run.review_id)
    [line] = card_text(build_card(review, DEFAULT), PlaceNames(str)).warnings
    assert "The agent can't go on after these decisions" in plain_text(line)
    assert "“Another process started the run of 't-1' with its own `context`" in plain_text(line)

    async def user(thread_id: str) -> User:
        return User("Ann")

    async with lab.serving(asking(lab, context=user)):
        done = await lab.done(run.review_id)
    assert done.agent_problem is None
    assert build_card(done, DEFAULT).warnings == ()


async def test_people_are_told_that_a_checkpointer_lost_the_thread(lab: Lab) -> None:
    driver = asking(lab)
    run = await driver.run(go(), thread_id="t-1")
    await lab.saver.adelete_thread("t-1")
    await lab.decide(run.review_id, "approve")
    async with lab.serving(driver):
        await wait_until_told(lab, run.review_id)
    problem = (await lab.review(run.review_id)).agent_problem
    assert problem is not None
    assert problem.why == "The agent's checkpointer has no thread 't-1'."


async def test_a_thread_that_was_never_saved_has_no_run_to_continue(lab: Lab) -> None:
    """Given a process that died before its input was saved, then `run(None)` says so: a finished run would
    look as if the agent had nothing to do."""
    driver = asking(lab)
    for input in (None, Command(resume=1)):
        with pytest.raises(StoreError, match="has no thread 't-1'"):
            await driver.run(input, thread_id="t-1")


async def test_the_error_of_an_agents_own_code_is_only_named(lab: Lab) -> None:
    """Given an agent whose own code raises after the decision, then people read the kind of its error, and
    not its text, which may quote what the tool got."""

    class Failing(AgentMiddleware[Any, Any]):
        async def abefore_model(self, state: Any, runtime: Any) -> None:
            if len(state["messages"]) > 1:
                raise RuntimeError("the password is hunter2")

    driver = lab.driver([call("c1", "send_email", to="a")], before=[Failing()])
    run = await driver.run(go(), thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        await wait_until_told(lab, run.review_id)
    problem = (await lab.review(run.review_id)).agent_problem
    assert problem is not None
    assert problem.why == "RuntimeError"


async def test_people_are_told_that_a_listener_always_ends_as_cancelled(lab: Lab) -> None:
    """Given a listener of stops that awaits another task, which was cancelled, then that is an error as any
    other, and no cancellation of `serve`: it gets the stop again, and people are told."""
    driver = lab.driver([call("c1", "send_email", to="a")])
    run = await driver.run(go(), thread_id="t-1")
    await lab.decide(run.review_id, "approve")
    other = asyncio.create_task(asyncio.sleep(0))
    other.cancel()

    async def on_stop(_: Run) -> None:
        await other

    async with lab.serving(driver, on_stop):
        await wait_until_told(lab, run.review_id)
    assert lab.effects == ["sent a"]


async def test_a_listener_of_chunks_that_ends_as_cancelled_stops_no_run(lab: Lab) -> None:
    async def show(thread_id: str, chunk: Any) -> None:
        raise asyncio.CancelledError

    agent = lab.agent([call("c1", "send_email", to="a")])
    run = await lab.reviews.drive(agent, stream=show).run(go(), thread_id="t-1")
    assert run.review_id is not None


async def stuck_run(lab: Lab) -> tuple[Driver, str]:
    """A driver, and the id of a decided review: its first call ran, and a tool that needs nobody raises at
    each try."""

    @tool
    def look_up(what: str) -> str:
        """Look something up."""
        raise RuntimeError("away")

    turn = [call("c1", "send_email", to="a"), call("c2", "look_up", what="x")]
    agent = create_agent(
        Script(turns=[turn, "Fine."]),
        [*tools(lab.folder / "effects"), look_up],
        middleware=[HumanInTheLoopMiddleware({"send_email": True})],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    run = await driver.run(go(), thread_id="t-1")
    await lab.decide(run.review_id, "approve")
    return driver, str(run.review_id)


async def test_new_input_replaces_a_decided_run_that_raises_at_each_try(lab: Lab) -> None:
    """Given a decided run in which a tool raises at each try, then the next message is answered, the model
    reads what ran, and the review is done. Otherwise its thread would be busy without end."""
    driver, review_id = await stuck_run(lab)
    async with lab.serving(driver):
        await wait_until_told(lab, review_id)
        run = await driver.run(go("again"), thread_id="t-1")
    review = await lab.review(review_id)
    assert (run.finished, lab.effects) == (True, ["sent a"])
    assert answers(run) == {
        "c1": ("success", answers(run)["c1"][1]),
        "c2": ("error", "`look_up` was stopped before it ended. The user wrote something new."),
    }
    # LangGraph may have saved the tool's own result before it stopped the step.
    assert answers(run)["c1"][1] in ("Result of `send_email`: sent a", "sent a")
    assert (review.status, review.runs["1"].line) == ("done", "sent a")


async def test_new_input_waits_while_a_decided_run_may_still_go_on(lab: Lab) -> None:
    """Given a decided run that this process has claimed, and that has not failed again and again, then new
    input has to wait."""
    driver, review_id = await stuck_run(lab)
    outcome = await lab.gate.wait(review_id)
    with pytest.raises(Refused, match="is still open"):
        await driver.run(go("again"), thread_id="t-1")
    outcome.release()


@pytest.mark.parametrize("pauses_again", [False, True])
async def test_new_input_replaces_a_run_whose_listener_always_raises(
    lab: Lab, pauses_again: bool
) -> None:
    """Given a decided run that ended or paused again, and a listener of stops that raises at each try, then
    the next message is answered, and the review is done. Otherwise its thread would be busy without end."""
    turn = [call("c1", "send_email", to="a")]
    driver = lab.driver(turn, *([[call("c2", "send_email", to="b")]] if pauses_again else []))
    run = await driver.run(go(), thread_id="t-1")
    await lab.decide(run.review_id, "approve")

    async def on_stop(_: Run) -> None:
        raise RuntimeError("away")

    async with lab.serving(driver, on_stop):
        await wait_until_told(lab, run.review_id)
        again = await driver.run(go("again"), thread_id="t-1")
    assert (again.finished, lab.effects) == (True, ["sent a"])
    statuses = {review.status for review in await lab.all_reviews("t-1")}
    assert statuses == {"done"}


async def test_new_input_does_not_replace_decisions_that_the_run_did_not_get(lab: Lab) -> None:
    """Given an approved call whose run this process can't continue, but another one can, then new input has
    to wait, though people were told."""
    run = await asking(lab).run(go(), thread_id="t-1", context=User("Ann"))
    await lab.decide(run.review_id, "approve")
    other = asking(Lab(lab.gate, lab.saver, lab.folder))
    async with lab.serving(other):
        await wait_until_told(lab, run.review_id)
        with pytest.raises(Refused, match="is still open"):
            await other.run(go("again"), thread_id="t-1")
    assert (await lab.review(run.review_id)).actions[0].decision is not None
