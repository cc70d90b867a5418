"""A hint wakes who waits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hitl_core.model import Review
from hitl_core.review import claims
from hitl_core.store import Store
from hitl_core.store.contract import MAX_HINT
from tests.store.steps import HERE, OPS, approved, created, stepped
from tests.support.builders import call, review_of, write_of


async def _awaited(store: Store, process: str | None, **args: Any) -> Review:
    """A stored review for which this process waits."""
    now = await store.now()
    review, event = review_of([call(**args)], now=now, partitions=store.partitions)
    review = review.model_copy(update={"waiting_process": process})
    assert await store.commit(write_of((review, event)))
    return review


class HintsContract:
    async def test_hints_begin_where_the_first_call_stood(self, store: Store):
        """The first call answers at once with nothing; later hints arrive once, in order."""
        await created(store, thread_id="before")
        assert await store.agent_hints("billing", 10) == []

        first = await created(store, thread_id="one")
        second = await created(store, thread_id="one")

        hints = await store.agent_hints("billing", 10)
        assert [hint.review_id for hint in hints] == [first.id, second.id]
        assert await store.agent_hints("billing", 0.01) == []

    async def test_a_hint_ends_the_wait(self, store: Store):
        """Given a listener, when a review settles, then the listener is told at once."""
        review = await created(store)
        await store.agent_hints("billing", 0)
        listener = asyncio.create_task(store.agent_hints("billing", 20))

        await approved(store, review)

        [hint] = await asyncio.wait_for(listener, 60)
        assert hint.review_id == review.id

    async def test_a_hint_carries_the_review_that_a_process_waits_for(self, store: Store):
        """When a review settles, its hint says what a load at that moment says."""
        review = await _awaited(store, "p1")
        await store.record_post(review.id, OPS, HERE)
        await store.agent_hints("billing", 0)

        await approved(store, review)

        [hint] = await store.agent_hints("billing", 10)
        carried, stored = hint.read(), await store.load(review.id)
        assert carried is not None
        assert stored is not None
        assert carried.review.status == "settled"
        assert carried.now <= stored.now
        assert replace(carried, now=stored.now) == stored

    @pytest.mark.parametrize(("process", "size"), [(None, 1), ("p1", MAX_HINT)])
    async def test_other_hints_carry_none(self, store: Store, process: str | None, size: int):
        """Neither without a process that waits, nor a large review: streams keep many hints."""
        review = await _awaited(store, process, text="x" * size)
        await store.agent_hints("billing", 0)

        await approved(store, review)

        [hint] = await store.agent_hints("billing", 10)
        assert (hint.review_id, hint.read()) == (review.id, None)

    async def test_hints_of_others_and_silent_writes_are_not_heard(self, store: Store):
        """Only this agent's, and only where the write says so."""
        await store.agent_hints("billing", 0)
        await created(store, agent="support")
        quiet = review_of(now=await store.now(), partitions=store.partitions)
        await store.commit(write_of(quiet, wake=False))

        assert await store.agent_hints("billing", 0.02) == []

    async def test_changes_are_everybodys(self, store: Store):
        """Of any agent, settled or not; bookkeeping is no change."""
        assert await store.changes(10) == []
        mine = await created(store)
        listener = asyncio.create_task(store.changes(20))
        assert await asyncio.wait_for(listener, 60) == [mine.id]

        listener = asyncio.create_task(store.changes(20))
        other = await created(store, agent="support", thread_id="another")
        await stepped(store, claims.set_waiting_process(other, "p1", await store.now()))

        assert await asyncio.wait_for(listener, 60) == [other.id]
        assert await store.changes(0.02) == []
