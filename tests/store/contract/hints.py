"""A hint wakes who waits."""

from __future__ import annotations

import asyncio

from hitl_core.review import claims
from hitl_core.store import Store
from tests.store.steps import approved, created, stepped
from tests.support.builders import review_of, write_of


class HintsContract:
    async def test_hints_begin_where_the_first_call_stood(self, store: Store):
        """The first call answers at once with nothing; later hints arrive once, in order."""
        await created(store, thread_id="before")
        assert await store.agent_hints("billing", 10) == []

        first = await created(store, thread_id="one")
        second = await created(store, thread_id="one")

        assert await store.agent_hints("billing", 10) == [first.id, second.id]
        assert await store.agent_hints("billing", 0.01) == []

    async def test_a_hint_ends_the_wait(self, store: Store):
        """Given a listener, when a review settles, then the listener is told at once."""
        review = await created(store)
        await store.agent_hints("billing", 0)
        listener = asyncio.create_task(store.agent_hints("billing", 20))

        await approved(store, review)

        assert await asyncio.wait_for(listener, 15) == [review.id]

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
        assert await asyncio.wait_for(listener, 15) == [mine.id]

        listener = asyncio.create_task(store.changes(20))
        other = await created(store, agent="support", thread_id="another")
        await stepped(store, claims.set_waiting_process(other, "p1", await store.now()))

        assert await asyncio.wait_for(listener, 15) == [other.id]
        assert await store.changes(0.02) == []
