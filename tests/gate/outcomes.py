"""Steps of a gate's tests: people who decide, and what an outcome has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from hitl_core.gate import Gate, Outcome
from hitl_core.model import ToolCall
from hitl_core.review import Decide
from tests.support.builders import approve_all, call, person, proposal


async def approve(gate: Gate, *calls: ToolCall, thread_id: str = "t-1", **more: Any) -> Outcome:
    """Submitted, approved by Ada, handed over."""
    review_id = await gate.submit(calls or [call(n=1)], thread_id=thread_id, **more)
    await approve_all(gate.reviews, review_id)
    return await gate.wait(review_id)


async def decide(gate: Gate, review_id: str, key: str, type: str, **more: Any) -> None:
    by = more.pop("by", person())
    await gate.reviews.apply(Decide(review_id, key, proposal(type, **more), by, f"op-{type}-{key}"))


async def status_of(gate: Gate, review_id: str) -> str:
    return (await gate.reviews.load(review_id)).review.status


async def first(outcomes: AsyncIterator[Outcome]) -> Outcome:
    return await anext(outcomes)


def ids(outcome: Outcome) -> list[str]:
    return [call.id for call in outcome.execute]
