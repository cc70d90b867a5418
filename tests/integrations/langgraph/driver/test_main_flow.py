"""The main flow: a LangGraph agent pauses, people decide, any process of the agent continues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.gate import Gate
from tests.integrations.agents import POLICY, Lab, answers, call, go
from tests.support.waiting import wait_until

TURN = [
    call("c1", "send_email", to="a"),
    call("c2", "read", topic="x"),
    call("c3", "send_email", to="b"),
    call("c4", "run_sql", query="DROP TABLE t"),
]


async def test_every_call_of_a_turn_does_what_was_decided(lab: Lab) -> None:
    """Given a turn of four calls, when one is approved, one edited and one rejected, then the tools get
    exactly the decided arguments, the free call runs as well, and the model gets all results."""
    driver = lab.driver(TURN)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1", requester="U0MARIA")
        assert (paused.finished, lab.effects) == (False, [])
        await lab.decide(paused.review_id, "approve", {"to": "E"}, ("reject", "not on my watch"))
        review = await lab.done(paused.review_id)
    [run] = lab.stops
    assert run.finished
    assert sorted(lab.effects) == ["read x", "sent E", "sent a"]
    results = answers(run)
    assert results["c1"] == ("success", "sent a")
    assert results["c3"][1].endswith("Tool response:\nsent E")
    reason = "User rejected the tool call for `run_sql` with reason: not on my watch"
    assert results["c4"] == ("error", reason)
    assert (review.requester, review.thread_id) == ("U0MARIA", "t-1")
    assert {key: run.line for key, run in review.runs.items()} == {"1": "sent a", "3": "sent E"}


async def test_a_real_redis_carries_a_review_from_one_process_to_another(
    redis_url: str, saver: AsyncSqliteSaver, tmp_path: Path
) -> None:
    """Given a run paused by a process that ended, when it is approved, then another process
    finishes it."""
    async with Gate.connect(redis_url, policy=POLICY, agent="billing", lease=1.0) as gate:
        paused = await Lab(gate, saver, tmp_path).driver(TURN).run(go(), thread_id="t-1")
    async with Gate.connect(redis_url, policy=POLICY, agent="billing", lease=1.0) as gate:
        lab = Lab(gate, saver, tmp_path)
        async with lab.serving(lab.driver(TURN)):
            await lab.decide(paused.review_id, "approve", "approve", "reject")
            await lab.done(paused.review_id)
    assert sorted(lab.effects) == ["read x", "sent a", "sent b"]


async def test_the_next_pause_of_a_resumed_run_becomes_a_review_with_the_same_requester(
    lab: Lab,
) -> None:
    """Given two turns that use the same call id, when both are decided, one by an edit, then each
    call runs with its own arguments, and the second review has the same requester without a new parameter."""
    turns = [[call("c1", "send_email", to="a")], [call("c1", "send_email", to="b")]]
    driver = lab.driver(*turns)
    first = await driver.run(go(), thread_id="t-1", requester="U0MARIA")
    async with lab.serving(lab.driver(*turns)):
        await lab.decide(first.review_id, {"to": "E"})
        [stop] = await wait_until("the second pause", lambda: lab.stops)
        assert stop.review_id != first.review_id
        assert (await lab.review(stop.review_id)).requester == "U0MARIA"
        await lab.decide(stop.review_id, "approve")
        await lab.done(stop.review_id)
    assert lab.effects == ["sent E", "sent b"]


async def test_a_later_turn_of_the_same_run_has_nothing_to_do_with_the_review(lab: Lab) -> None:
    """Given a turn without a review after a reviewed one, with the same call id, then its call runs."""
    driver = lab.driver([call("c1", "send_email", to="a")], [call("c1", "read", topic="x")])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, ("reject", "no"))
        await lab.done(paused.review_id)
    assert lab.effects == ["read x"]


async def test_decisions_without_a_tool_run_answer_the_model(lab: Lab) -> None:
    """Given two calls, when one is answered by a person and one rejected without a reason, then no
    tool runs and the texts are LangChain's own."""
    driver = lab.driver([call("c1", "send_email", to="a"), call("c2", "run_sql", query="x")])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, ("respond", "I called them."), "reject")
        await lab.done(paused.review_id)
    results = answers(lab.stops[0])
    assert results["c1"] == ("success", "I called them.")
    assert results["c2"][0] == "error"
    assert results["c2"][1].startswith("User rejected the tool call for `run_sql` with id c2.")
    assert lab.effects == []


async def test_a_run_without_a_pause_just_ends(lab: Lab) -> None:
    """Given calls that nobody asks about, then they run, and there is no review."""
    run = await lab.driver([call("c1", "read", topic="x")]).run(go(), thread_id="t-1")
    assert (run.finished, run.review_id, lab.effects) == (True, None, ["read x"])


async def test_saved_input_is_continued_by_a_later_process(lab: Lab) -> None:
    """Given input that was only saved, when another driver continues, then it runs for the same
    requester."""
    await lab.driver(TURN).save_input(go(), thread_id="t-1", requester="U0MARIA")
    with pytest.raises(Refused, match="has not ended"):
        await lab.driver(TURN).save_input(go(), thread_id="t-1")
    paused = await lab.driver(TURN).run(None, thread_id="t-1")
    assert (await lab.review(paused.review_id)).requester == "U0MARIA"


async def test_a_submit_that_a_crash_prevented_is_done_later(lab: Lab) -> None:
    """Given a pause that was saved but never submitted, when the thread continues, then it has its
    review."""
    agent = lab.agent(TURN)
    await agent.ainvoke(go(), {"configurable": {"thread_id": "t-1"}}, durability="sync")
    paused = await lab.driver(TURN).run(None, thread_id="t-1")
    assert [c.tool_call_id for c in (await lab.review(paused.review_id)).calls] == [
        "c1",
        "c2",
        "c3",
        "c4",
    ]


@pytest.mark.parametrize(
    ("turn", "sentence"),
    [
        ([call(None, "send_email", to="a")], "no `id`"),
        ([call("d", "send_email", to="a"), call("d", "send_email", to="b")], "Two calls"),
        ([call("c1", "send_email", to="x" * 300_000)], "262,144"),
    ],
)
async def test_calls_that_cannot_be_reviewed_are_refused_in_one_sentence(
    lab: Lab, turn: Any, sentence: str
) -> None:
    """Given a call without an id, two of one id, or huge arguments, then the caller is told, and
    nothing runs."""
    driver = lab.driver(turn)
    with pytest.raises(InvalidToolCall, match=sentence):
        await driver.run(go(), thread_id="t-1")
    assert lab.effects == []


async def test_a_later_turn_that_cannot_be_reviewed_is_told_and_closes_the_review_before_it(
    lab: Lab,
) -> None:
    """Given a second turn with a call without an id, when the first is approved, then the stop says
    why."""
    driver = lab.driver([call("c1", "send_email", to="a")], [call(None, "send_email", to="b")])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    [run] = lab.stops
    assert run.refusal
    assert "no `id`" in run.refusal
    assert lab.effects == ["sent a"]


async def test_the_model_is_told_about_a_deadline(lab: Lab) -> None:
    """Given a deadline that passed without a decision, then the model is told that nobody decided, and
    nothing ran."""
    rule = {"allowed_decisions": ["approve"], "expire": {"after": "1s"}}
    lab.set_policy(default="allow", interrupt_on={"send_email": rule})
    driver = lab.driver(TURN[:1])
    async with lab.serving(driver):
        await lab.done((await driver.run(go(), thread_id="t-1")).review_id)
    status, text = answers(lab.stops[0])["c1"]
    assert (status, "Nobody decided on the tool call for `send_email` in time" in text) == (
        "error",
        True,
    )
    assert lab.effects == []


async def test_the_model_is_told_about_a_cancelled_review_and_nothing_runs(lab: Lab) -> None:
    """Given two calls, one approved, when their review is cancelled, then neither runs, and the model is told
    why."""
    driver = lab.driver([TURN[0], TURN[2]])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        review = await lab.review(paused.review_id)
        await lab.decide_one(review.id, review.actions[0], "approve")
        await lab.gate.cancel(review.id, "The user went on.")
        await lab.done(review.id)
    for status, text in answers(lab.stops[0]).values():
        assert status == "error"
        assert "was cancelled. It was not executed. Reason: The user went on." in text
    assert lab.effects == []


async def test_skipping_is_sent_as_a_rejection(lab: Lab) -> None:
    """Given a rule that allows to skip, which LangChain doesn't have, then the tool doesn't run."""
    rule = {"allowed_decisions": ["approve", "ignore"]}
    lab.set_policy(default="allow", interrupt_on={"send_email": rule})
    driver = lab.driver(TURN[:1])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "ignore")
        await lab.done(paused.review_id)
    status, text = answers(lab.stops[0])["c1"]
    assert (status, "was skipped" in text) == ("error", True)
    assert lab.effects == []


async def test_a_denial_that_langchain_does_not_accept_is_answered_by_the_guard(lab: Lab) -> None:
    """Given that LangChain takes approvals only, when the policy denies the call, then LangChain gets an
    approval, and the guard stops it with the policy's reason."""
    lab.set_policy(default="allow", interrupt_on={"send_email": "deny"})
    driver = lab.driver(TURN[:1], asking={"send_email": {"allowed_decisions": ["approve"]}})
    async with lab.serving(driver):
        await lab.done((await driver.run(go(), thread_id="t-1")).review_id)
    status, text = answers(lab.stops[0])["c1"]
    assert (status, text.startswith("The policy doesn't allow `send_email`")) == ("error", True)
    assert lab.effects == []


async def test_an_edit_is_checked_by_the_tools_own_schema(lab: Lab) -> None:
    """Given no schema in the policy, when an edit has a wrong type, then it is refused and nothing
    changes."""
    driver = lab.driver(TURN[:1])
    paused = await driver.run(go(), thread_id="t-1")
    with pytest.raises(Refused, match="to"):
        await lab.decide(paused.review_id, {"to": 7})
    assert (await lab.review(paused.review_id)).status == "pending"


async def test_where_the_agent_was_asked_goes_with_the_run(lab: Lab) -> None:
    """Given a policy that says `origin`, then the reviews of a run are in the thread of its question, also
    those of later turns, and of a process that only continues."""
    lab.set_policy(default="allow", notify="origin")
    turns = [[call("c1", "send_email", to="a")], [call("c2", "send_email", to="b")]]
    driver, where = lab.driver(*turns), "slack:C0123ABCD/1700000000.000100"
    await driver.save_input(go(), thread_id="t-1", requester="U0MARIA", origin=where)
    first = await lab.driver(*turns).run(None, thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(first.review_id, "approve")
        [second] = await wait_until("the second pause", lambda: lab.stops)
    for run in (first, second):
        review = await lab.review(run.review_id)
        assert (review.origin, review.places) == (where, (where,))
