"""The callables of a policy can do anything, also fail: no call runs without a verdict."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from hitl_core import Gate, Policy, ToolCall
from hitl_core.store import MemoryStore

CALL = ToolCall("c1", "pay", {"amount": 7})


def policy(**rule: Any) -> Policy:
    return Policy.from_mapping({"default": "allow", "interrupt_on": {"pay": rule}})


class Undecided:
    """An answer that is neither true nor false, as an array of numbers is."""

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


def test_an_undecided_answer_counts_as_met() -> None:
    verdict = policy(when=lambda _: Undecided()).judge(CALL).verdict
    assert verdict.kind == "review"
    assert "Its `when` failed (ValueError) and counts as true." in verdict.reason


def test_a_callable_may_be_any_object_that_can_be_called() -> None:
    class Over:
        def __init__(self, limit: int) -> None:
            self.limit = limit

        def __call__(self, args: dict[str, Any]) -> bool:
            return args["amount"] > self.limit

    assert policy(when=Over(6)).judge(CALL).verdict.kind == "review"
    assert policy(when=Over(7)).judge(CALL).verdict.kind == "allow"


@pytest.mark.parametrize("key", ["when", "description"])
async def test_nothing_is_stored_before_every_call_is_judged(key: str) -> None:
    """Given a callable that is still at work, or never comes back, then nothing is there that could run."""
    store, seen = MemoryStore(), list[int]()

    def look(_: dict[str, Any]) -> str:
        seen.append(len(store._reviews))
        return "look"

    async with Gate(store, policy=policy(**{key: look}), agent="billing") as gate:
        await gate.submit([CALL, ToolCall("c2", "pay", {})], thread_id="t")

    assert seen == [0, 0]
    assert len(store._reviews) == 1


class Stop(BaseException):
    """Like SystemExit and KeyboardInterrupt: the policy must not catch it."""


@pytest.mark.parametrize("key", ["when", "description"])
async def test_a_callable_that_ends_the_program_leaves_nothing_behind(key: str) -> None:
    def stop(_: dict[str, Any]) -> NoReturn:
        raise Stop

    store = MemoryStore()
    async with Gate(store, policy=policy(**{key: stop}), agent="billing") as gate:
        with pytest.raises(Stop):
            await gate.review([CALL], thread_id="t")

    assert store._reviews == {}
