"""A call runs only with the arguments that were approved."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hitl_core.errors import Refused
from hitl_core.gate import Gate
from hitl_core.model import ToolCall
from tests.gate.conftest import Open
from tests.gate.outcomes import approve, decide, status_of
from tests.support.builders import approve_all, call, person, policy


async def test_promise_1_what_the_agent_changes_after_submitting_does_not_run(gate: Gate):
    """T1: given arguments that are changed while people decide, then the old ones run."""
    args: dict[str, Any] = {"amount": 10, "to": ["ada"]}
    review_id = await gate.submit([ToolCall("c1", "ask", args)], thread_id="t")
    args["amount"] = 10**6
    args["to"].append("eve")
    await approve_all(gate.reviews, review_id)

    outcome = await gate.wait(review_id)

    [ready] = outcome.execute
    assert ready.args == {"amount": 10, "to": ["ada"]}
    assert await outcome.once(ready)


async def test_promise_1_what_is_judged_is_what_is_stored(open_gate: Open):
    """Given arguments that change between the policy's check and the store, then both use the first ones."""
    rules = policy(pay={"when": {"properties": {"amount": {"minimum": 100}}}}, **{"pa?": False})
    gate = await open_gate(policy=rules)
    args = {"amount": 1}
    submitting = asyncio.create_task(gate.submit([ToolCall("c1", "pay", args)], thread_id="t"))
    await asyncio.sleep(0)  # it is on its way to the store
    args["amount"] = 10**6

    review = (await gate.reviews.load(await submitting)).review

    assert (review.status, review.arguments("1").parse()) == ("settled", {"amount": 1})


async def test_promise_1_other_arguments_are_refused_before_they_run(gate: Gate):
    """T2: `once` compares the bytes, whatever code is between the outcome and the tool."""
    outcome = await approve(gate, call(n=1), call("look_up", "c2", n=1))
    [asked, _] = outcome.execute
    changed = [
        ToolCall("c1", "ask", {"n": 2}),
        ToolCall("c1", "ask", {"n": 1.0}),
        ToolCall("c1", "ask", {"n": 1, "more": None}),
        ToolCall("c1", "ask", {}),
        ToolCall("c1", "strict", {"n": 1}),
        ToolCall("c2", "look_up", {"n": 2}),
    ]
    for other in changed:
        with pytest.raises(Refused, match="is not the one that was decided") as caught:
            await outcome.once(other)
        assert caught.value.code == "args_changed"
    asked.args["n"] = 2
    with pytest.raises(Refused, match="is not the one that was decided"):
        await outcome.once(asked)
    assert await outcome.once(call(n=1))


async def test_a_target_among_the_arguments_is_the_one_that_was_approved(gate: Gate):
    """T6: a host or an account that is one of the arguments can't be another one after the approval. One that
    the tool takes from elsewhere is not protected."""
    args = {"host": "staging-1", "account": "test", "command": "rm -r /data"}
    outcome = await approve(gate, call(**args))
    for other in ({"host": "prod-1"}, {"account": "live"}, {"host": "staging-1 "}):
        with pytest.raises(Refused) as caught:
            await outcome.once(call(**{**args, **other}))
        assert caught.value.code == "args_changed"
    assert await outcome.once(call(**args))


async def test_promise_1_an_edit_runs_as_it_was_edited(gate: Gate):
    """The edited arguments, under the model's own id; the model's own arguments are refused then."""
    review_id = await gate.submit([call(n=1)], thread_id="t")
    await decide(gate, review_id, "1", "edit", n=2)
    outcome = await gate.wait(review_id)
    assert outcome.execute == (ToolCall("c1", "ask", {"n": 2}),)
    with pytest.raises(Refused, match="not the one that was decided"):
        await outcome.once(call(n=1))
    assert await outcome.once(outcome.execute[0])
    decision = outcome.decision("c1")
    assert decision is not None
    assert (decision.type, decision.by) == ("edit", person())


async def test_promise_1_what_was_not_approved_never_starts(gate: Gate):
    """Rejected, denied, or of another turn: once refuses."""
    review_id = await gate.submit([call("ask", "c1"), call("drop_table", "c2")], thread_id="t")
    await decide(gate, review_id, "1", "reject")
    outcome = await gate.wait(review_id)
    for never in (call("ask", "c1"), call("drop_table", "c2"), call("ask", "c9")):
        with pytest.raises(Refused, match="must not run") as caught:
            await outcome.once(never)
        assert caught.value.code == "not_allowed"


async def test_promise_1_a_policy_loosened_meanwhile_changes_nothing(open_gate: Open):
    """T46: the rules at the submit count, for the waiting process and for the one that takes over."""
    strict = await open_gate(policy=policy())
    review_id = await strict.submit([call(n=1)], thread_id="t", turn="m1")
    loose = await open_gate(policy=policy(ask=False))

    assert await loose.submit([call(n=1)], thread_id="t", turn="m1") == review_id
    waiting = asyncio.create_task(loose.wait(review_id))
    assert await status_of(strict, review_id) == "pending"
    await decide(strict, review_id, "1", "reject")

    assert (await waiting).execute == ()
