"""`when` and `description` may be async: a gate awaits them, and code that can't wait gets an error."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hitl_core import Gate, Policy, ToolCall
from hitl_core.errors import PolicyError
from hitl_core.policy import InvalidPolicy
from hitl_core.store import MemoryStore

CALL = ToolCall("c1", "pay", {"amount": 7})


def policy(**rule: Any) -> Policy:
    return Policy.from_mapping({"default": "allow", "interrupt_on": {"pay": rule}})


async def is_large(args: dict[str, Any]) -> bool:
    await asyncio.sleep(0)
    return args["amount"] > 5


async def at_once(args: dict[str, Any]) -> str:
    return f"Pay {args['amount']}?"


async def test_an_async_predicate_and_description_are_waited_for() -> None:
    made = policy(when=is_large, description=at_once)
    ruling = await made.judge_async(CALL)
    assert (ruling.verdict.kind, ruling.description) == ("review", "Pay 7?")
    assert (await made.judge_async(ToolCall("c1", "pay", {"amount": 1}))).verdict.kind == "allow"


async def test_a_gate_waits_for_them() -> None:
    async with Gate(MemoryStore(), policy=policy(when=is_large), agent="billing") as gate:
        id = await gate.submit([CALL], thread_id="t")
        (action,) = (await gate.reviews.load(id)).review.actions
    assert action.request.name == "pay"


@pytest.mark.parametrize("rule", [{"when": is_large}, {"description": at_once}])
def test_code_that_can_not_wait_gets_an_error(rule: Any) -> None:
    """Also for one that would answer at once: that may change from call to call."""
    with pytest.raises(PolicyError) as caught:
        policy(**rule).judge(CALL)
    assert str(caught.value) == (
        "policy: a `when` or `description` about `pay` is async, which only a gate supports: submit"
        " the call to a gate, or use a plain function."
    )
    assert policy(**rule).judge(ToolCall("c2", "other", {})).verdict.kind == "allow"


async def test_one_that_fails_while_it_is_waited_for_counts_as_met() -> None:
    async def fails(args: dict[str, Any]) -> bool:
        await asyncio.sleep(0)
        raise KeyError(args)

    verdict = (await policy(when=fails).judge_async(CALL)).verdict
    assert verdict.kind == "review"
    assert "Its `when` failed (KeyError) and counts as true." in verdict.reason


async def test_a_cancelled_wait_does_not_count_as_met() -> None:
    """Given a predicate that never answers, then its wait can be cancelled."""
    started = asyncio.Event()

    async def never(args: dict[str, Any]) -> bool:
        started.set()
        await asyncio.Event().wait()
        return True

    judging = asyncio.create_task(policy(when=never).judge_async(CALL))
    await started.wait()
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await judging


@pytest.mark.parametrize("answer", [None, 0, "", []])
def test_an_answer_that_is_no_bool_counts_as_met(answer: Any) -> None:
    """A forgotten `return` must not open the gate."""
    verdict = policy(when=lambda _: answer).judge(CALL).verdict
    assert verdict.kind == "review"
    assert "Its `when` failed (TypeError) and counts as true." in verdict.reason


def test_a_mapping_that_contains_itself_is_no_policy() -> None:
    circle: dict[str, Any] = {}
    circle["type"] = circle
    with pytest.raises(InvalidPolicy):
        policy(args_schema=circle)
