"""A user writes a new message in a thread that waits for people: the review is cancelled, and every call gets
an answer, so that the model can continue the conversation.
"""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import Command, interrupt

from hitl_core.errors import Refused
from hitl_core.integrations.langgraph import Run
from hitl_core.model import Review
from tests.integrations.agents import Lab, answers, call, go
from tests.integrations.graphs import asking
from tests.support.waiting import wait_until

TURN = [
    call("c1", "send_email", to="a"),
    call("c2", "read", topic="x"),
    call("c3", "run_sql", query="DROP TABLE t"),
]
WHY = "Reason: The user wrote something new."
INBOX = {
    "action_request": {"action": "send_email", "args": {"to": "a"}},
    "config": dict.fromkeys(["allow_ignore", "allow_respond", "allow_edit", "allow_accept"], True),
}


def kinds(run: Run) -> list[str]:
    return [message.type for message in run.state["messages"]]


def is_withdrawn(review: Review) -> bool:
    cancelled = review.cancelled
    return review.status == "done" and cancelled is not None and cancelled.by is None


@pytest.mark.parametrize("keeps", [False, True])
async def test_a_new_message_cancels_the_review_and_answers_its_calls(
    lab: Lab, keeps: bool
) -> None:
    """Given a paused thread, when a new message comes, at once or kept first, then the model gets an answer
    to each call and then the message, nothing ran, and a late click is told."""
    driver = lab.driver(TURN, "Fine, something else.")
    paused = await driver.run(go(), thread_id="t-1", requester="U0MARIA")

    if keeps:
        await driver.save_input(go("again"), thread_id="t-1")
    run = await driver.run(None if keeps else go("again"), thread_id="t-1")

    assert run.finished
    assert kinds(run) == ["human", "ai", "tool", "tool", "tool", "human", "ai"]
    results = answers(run)
    assert list(results) == ["c1", "c2", "c3"]
    assert results["c1"] == (
        "error",
        f"The tool call `send_email` was cancelled. It was not executed. {WHY}",
    )
    assert run.state["messages"][-2].text == "again"
    assert lab.effects == []
    assert is_withdrawn(await lab.review(paused.review_id))
    with pytest.raises(Refused, match="The agent cancelled this"):
        await lab.decide(paused.review_id, "approve", "approve")


async def test_no_other_process_continues_a_withdrawn_run(lab: Lab) -> None:
    """Given two processes that serve the agent, when a new message comes, then only the message is answered:
    neither resumes the old turn."""
    turns = (TURN, "Fine.", "again?")
    driver, other = lab.driver(*turns), Lab(lab.gate, lab.saver, lab.folder)
    async with lab.serving(driver), other.serving(other.driver(*turns)):
        await driver.run(go(), thread_id="t-1")
        run = await driver.run(go("again"), thread_id="t-1")
        assert kinds(run)[-2:] == ["human", "ai"]
        assert (await driver.run(go("more"), thread_id="t-1")).finished
    assert (lab.stops, other.stops, lab.effects) == ([], [], [])


async def test_what_ran_while_the_others_waited_keeps_its_result(lab: Lab) -> None:
    """Given one interrupt a call, so that the free call has run, when a new message comes, then the model
    gets that call's result, which LangGraph would forget."""
    driver = lab.driver(TURN, "Fine.", interrupt_mode="per_call")
    paused = await driver.run(go(), thread_id="t-1")
    assert lab.effects == ["read x"]

    run = await driver.run(go("again"), thread_id="t-1")

    results = answers(run)
    assert results["c2"] == ("success", "read x")
    assert "`run_sql` was cancelled" in results["c3"][1]
    assert is_withdrawn(await lab.review(paused.review_id))
    assert lab.effects == ["read x"]


async def test_a_call_whose_id_an_earlier_turn_used_gets_an_answer_too(lab: Lab) -> None:
    """Given a model that uses the id of a call again in its next turn, which waits for people, when a new
    message comes, then that call has an answer before the message."""
    driver = lab.driver(
        [call("c1", "read", topic="x")], [call("c1", "send_email", to="a")], "Fine."
    )
    await driver.run(go(), thread_id="t-1")
    run = await driver.run(go("again"), thread_id="t-1")
    assert kinds(run) == ["human", "ai", "tool", "ai", "tool", "human", "ai"]


async def test_the_new_turn_has_a_review_of_its_own(lab: Lab) -> None:
    """Given a new message after which the model calls the same tool with the same id, then that is a new
    review, which runs what was approved in it."""
    email = [call("c1", "send_email", to="b")]
    driver = lab.driver(TURN, email)
    async with lab.serving(driver):
        first = await driver.run(go(), thread_id="t-1", requester="U0MARIA")
        second = await driver.run(go("again"), thread_id="t-1", requester="U0OTTO")
        assert second.review_id not in (None, first.review_id)
        assert (await lab.review(second.review_id)).requester == "U0OTTO"
        await lab.decide(second.review_id, "approve")
        await lab.done(second.review_id)
    assert lab.effects == ["sent b"]


async def test_a_decided_review_is_not_cancelled(lab: Lab) -> None:
    """Given that all is decided and no process has claimed it yet, when a new message comes, then it has to
    wait, and what was approved runs."""
    driver = lab.driver([TURN[0]])
    paused = await driver.run(go(), thread_id="t-1")
    await lab.decide(paused.review_id, "approve")
    for attempt in (driver.run, driver.save_input):
        with pytest.raises(Refused, match=f"{paused.review_id} is still open") as caught:
            await attempt(go("again"), thread_id="t-1")
        assert caught.value.code == "busy"
    async with lab.serving(driver):
        await lab.done(paused.review_id)
    assert lab.effects == ["sent a"]


async def test_a_resume_by_hand_cancels_nothing(lab: Lab) -> None:
    """Given a paused thread, when somebody sends a Command in place of a message, then it is refused with the
    review's id, and nothing changes; nor does another thread's message."""
    driver = lab.driver(TURN)
    paused = await driver.run(go(), thread_id="t-1")
    answer = {"decisions": [{"type": "approve"}, {"type": "approve"}]}
    with pytest.raises(Refused, match=str(paused.review_id)):
        await driver.run(Command(resume=answer), thread_id="t-1")
    assert (await driver.run(go(), thread_id="t-2")).review_id != paused.review_id
    assert (await lab.review(paused.review_id)).status == "pending"


async def test_a_pause_that_was_never_submitted_is_answered_too(lab: Lab) -> None:
    """Given a crash between the pause and its review, when a new message comes, then no process can ask
    about it any more."""
    agent = lab.agent(TURN, "Fine.")
    await agent.ainvoke(go(), {"configurable": {"thread_id": "t-1"}}, durability="sync")
    run = await lab.driver(TURN, "Fine.").run(go("again"), thread_id="t-1")
    assert list(answers(run)) == ["c1", "c2", "c3"]
    [review] = await lab.all_reviews("t-1")
    assert is_withdrawn(review)


class Breaks(AgentMiddleware[Any, Any, Any]):
    """Raises the first time that the model would be told "again"."""

    def __init__(self) -> None:
        self.left = 1

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        last: AnyMessage = state["messages"][-1]
        if isinstance(last, HumanMessage) and last.text == "again" and self.left:
            self.left -= 1
            raise RuntimeError("away")


async def test_a_run_that_fails_after_the_message_is_taken_up_again(lab: Lab) -> None:
    """Given a model that can't be reached when the new message is there, then a process that serves the agent
    continues from there, once, and closes the review."""
    driver = lab.driver(TURN, "Fine.", between=[Breaks()])
    paused = await driver.run(go(), thread_id="t-1")
    with pytest.raises(RuntimeError, match="away"):
        await driver.run(go("again"), thread_id="t-1")
    async with lab.serving(driver):
        await wait_until("the second try", lambda: lab.stops)
        await lab.done(paused.review_id)
    [run] = lab.stops
    assert kinds(run) == ["human", "ai", "tool", "tool", "tool", "human", "ai"]


async def test_new_input_replaces_a_run_that_fails_again_and_again(lab: Lab) -> None:
    """Given a message at which the agent raises each time, then the next message is answered."""
    breaks = Breaks()
    breaks.left = 3
    driver = lab.driver("Hello.", TURN, between=[breaks])
    await driver.run(go(), thread_id="t-1")
    for input in (go("again"), None):
        with pytest.raises(RuntimeError, match="away"):
            await driver.run(input, thread_id="t-1")
    await driver.save_input(go("more"), thread_id="t-1")
    run = await driver.run(None, thread_id="t-1")
    assert kinds(run) == ["human", "ai", "human", "human", "ai"]
    assert run.review_id is not None


async def test_a_run_that_a_crash_cut_is_not_replaced(lab: Lab) -> None:
    """Given a run that may still go on in another process, then new input has to wait."""
    driver = lab.driver(TURN)
    await driver.save_input(go(), thread_id="t-1")
    with pytest.raises(Refused, match=r"run\(None\) continues it"):
        await driver.run(go("again"), thread_id="t-1")


async def test_a_process_that_died_before_the_message_was_kept_leaves_answered_calls(
    lab: Lab,
) -> None:
    """Given a death between the cancel and the message, then another process ends the turn as cancelled."""
    driver = lab.driver(TURN, "Fine.")
    paused = await driver.run(go(), thread_id="t-1")
    outcome = await lab.gate.withdraw(str(paused.review_id), "The user wrote something new.")
    outcome.release()
    async with lab.serving(driver):
        await lab.done(paused.review_id)
    [run] = lab.stops
    assert run.finished
    assert all(status == "error" and WHY in text for status, text in answers(run).values())
    assert lab.effects == []


async def test_questions_of_nodes_side_by_side_are_all_withdrawn(lab: Lab) -> None:
    """Given two nodes that ask by themselves, when new input comes, then both reviews are cancelled and the
    graph starts again."""
    other = {**INBOX, "action_request": {"action": "send_email", "args": {"to": "b"}}}
    driver = asking(lab, INBOX, other)
    first = await driver.run({"out": []}, thread_id="t-1")
    assert len(first.review_ids) == 2
    second = await driver.run({"out": ["new"]}, thread_id="t-1")
    assert len(second.review_ids) == 2
    old = [await lab.review(id) for id in first.review_ids]
    new = [await lab.review(id) for id in second.review_ids]
    # LangGraph derives an interrupt's id from its place: the new ones differ.
    assert all(is_withdrawn(review) for review in old)
    assert all(review.status == "pending" for review in new)


async def test_a_tool_that_asks_itself_is_told_as_stopped(lab: Lab) -> None:
    """Given a tool that waits for an answer of its own, when a new message comes, then its call is answered:
    it has begun, so the answer doesn't say that it was not executed."""
    from langchain.agents import create_agent
    from langchain_core.tools import tool

    from tests.integrations.agents import Script

    @tool
    def ask(what: str) -> str:
        """Ask a person."""
        return str(interrupt(INBOX))

    agent = create_agent(
        Script(turns=[[call("q", "ask", what="x")], "Fine."]),
        [ask],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent, allow_in_memory=True)
    paused = await driver.run(go(), thread_id="t-1")
    run = await driver.run(go("again"), thread_id="t-1")
    assert answers(run)["q"] == (
        "error",
        "`ask` was stopped before it ended. The user wrote something new.",
    )
    assert is_withdrawn(await lab.review(paused.review_id))
