"""What an outcome tells the agent to run, and to answer. With a gate, people who decide, and a real Redis."""

from __future__ import annotations

import pytest

from hitl_core.errors import Refused
from hitl_core.gate import Answer, Gate
from tests.gate.conftest import Open
from tests.gate.outcomes import approve, decide, ids
from tests.support.builders import call, policy
from tests.support.waiting import wait_until


async def test_a_turn_that_nobody_has_to_see_goes_on_at_once(gate: Gate):
    """All allowed: everything to execute, in the model's order. All denied: nothing, back to the model."""
    allowed = await gate.review([call("look_up", "c2"), call("look_at", "c1")], thread_id="t")
    assert (ids(allowed), allowed.answers, allowed.jump_to_model) == (["c2", "c1"], (), False)
    assert allowed.decision("c1") is None

    denied = await gate.review([call("drop_table", "c3")], thread_id="t")
    assert denied.execute == ()
    assert denied.jump_to_model
    assert denied.answers == (
        Answer(
            "c3",
            "drop_table",
            "The policy doesn't allow `drop_table`: The rule `drop_table` denies it. The tool was not"
            " executed. Do not retry this tool call.",
            "error",
        ),
    )


async def test_every_call_is_executed_or_answered_in_the_models_order(open_gate: Open):
    """One review with everything in it; the texts are what models know from LangChain."""
    gate = await open_gate(policy=policy(quick={"expire": {"after": "1s", "decision": "reject"}}))
    names = ["ask", "look_up", "ask", "drop_table", "ask", "ask", "ask", "ask", "quick"]
    calls = [call(name, f"c{n}", n=n) for n, name in enumerate(names, start=1)]
    review_id = await gate.submit(calls, thread_id="t")
    await decide(gate, review_id, "1", "reject", message="too expensive")
    await decide(gate, review_id, "3", "approve")
    await decide(gate, review_id, "5", "reject")
    await decide(gate, review_id, "6", "respond", message="It is 42.")
    await decide(gate, review_id, "7", "ignore")
    await decide(gate, review_id, "8", "edit", n=80)

    async def expire() -> bool:
        return bool(await gate.reviews.apply_due(review_id))

    await wait_until("the deadline has passed", expire)
    outcome = await gate.wait(review_id)

    assert outcome.execute == (
        call("look_up", "c2", n=2),
        call("ask", "c3", n=3),
        call("ask", "c8", n=80),
    )
    stop = "The tool was not executed. Do not retry this tool call unless the user explicitly requests it."
    assert outcome.answers == (
        Answer(
            "c1", "ask", "User rejected the tool call for `ask` with reason: too expensive", "error"
        ),
        Answer(
            "c4",
            "drop_table",
            "The policy doesn't allow `drop_table`: The rule `drop_table` denies it."
            " The tool was not executed. Do not retry this tool call.",
            "error",
        ),
        Answer("c5", "ask", f"User rejected the tool call for `ask` with id c5. {stop}", "error"),
        Answer("c6", "ask", "It is 42.", "success"),
        Answer("c7", "ask", "The tool call `ask` was skipped. The tool was not executed.", "error"),
        Answer(
            "c9", "quick", f"Nobody decided on the tool call for `quick` in time. {stop}", "error"
        ),
    )
    assert not outcome.jump_to_model


async def test_nothing_left_to_execute_jumps_to_the_model(gate: Gate):
    review_id = await gate.submit([call()], thread_id="t")
    await decide(gate, review_id, "1", "reject")
    assert (await gate.wait(review_id)).jump_to_model


async def test_of_a_done_review_nothing_is_left_and_every_call_is_answered(gate: Gate):
    """Given a run that ended, when somebody waits for it again, then no call is left without an answer."""
    calls = [call(id=f"c{n}", n=n) for n in (1, 2)] + [call("look_up", "c3")]
    outcome = await approve(gate, *calls)
    assert await outcome.once(outcome.execute[0])
    await outcome.finish({"c1": "sent\nto all"})

    again = await gate.wait(outcome.review_id)

    assert again.execute == ()
    assert again.answers == (
        Answer("c1", "ask", "Result of `ask`: sent", "success"),
        Answer("c2", "ask", "`ask` was not executed.", "error"),
        Answer("c3", "look_up", "`look_up` was not executed.", "error"),
    )
    with pytest.raises(Refused, match="must not run"):
        await again.once(calls[0])
    await again.finish()


async def test_results_of_calls_that_must_not_run_are_not_kept(gate: Gate):
    """If an agent reports results for all calls, a rejected call still doesn't look as if it ran."""
    review_id = await gate.submit([call(id="c1"), call(id="c2")], thread_id="t")
    await decide(gate, review_id, "1", "reject")
    await decide(gate, review_id, "2", "approve")
    outcome = await gate.wait(review_id)
    await outcome.report({"c1": "rejected"})
    await outcome.finish({"c1": "rejected", "c2": "sent"})
    runs = (await gate.reviews.load(review_id)).review.runs
    assert {key: run.line for key, run in runs.items()} == {"2": "sent"}


async def test_promise_5_a_call_that_is_reported_without_a_start_can_not_start_any_more(gate: Gate):
    """Given an agent whose framework ran the call without `once`; then its result is kept, because a refused
    one would let the next process run it again."""
    calls = [call(id="c1"), call(id="c2")]
    outcome = await approve(gate, *calls)

    await outcome.report({"c1": "sent"})

    assert not await outcome.once(calls[0])
    assert await outcome.once(calls[1])
    runs = (await gate.reviews.load(outcome.review_id)).review.runs
    assert runs["1"].line == "sent"


async def test_a_result_that_is_no_clean_text_is_kept_all_the_same(gate: Gate):
    """A file's name with half a surrogate pair, an object, a page: done never fails on it."""
    calls = [call(id=f"c{n}") for n in range(3)]
    outcome = await approve(gate, *calls)
    await outcome.finish({"c0": "a\udcff", "c1": {"n": 1}, "c2": "line\n" * 10_000})
    runs = (await gate.reviews.load(outcome.review_id)).review.runs
    assert [runs[key].line for key in "123"] == ["a?", "{'n': 1}", "line"]
