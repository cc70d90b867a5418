"""The store contract, run on the store in memory."""

from __future__ import annotations

import pytest

from hitl_core.model import DEFAULT_PLACE
from hitl_core.store import MemoryStore
from tests.store.contract import Pass, StoreContract
from tests.store.steps import created
from tests.support.clock import Clock
from tests.support.jobs import finish_all

LANE = DEFAULT_PLACE.conversation


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def store(self, clock: Clock) -> MemoryStore:
        return MemoryStore(clock)

    @pytest.fixture
    def let_pass(self, clock: Clock) -> Pass:
        return clock.let_pass

    async def test_a_later_update_from_before_the_clock_was_set_back_is_due(
        self, store: MemoryStore, clock: Clock
    ) -> None:
        """Given an update and a check that wait for a minute; when the clock is set back by an hour, then the
        update is done now, once, and the check still waits."""
        review_id = (await created(store)).id
        await finish_all(store)
        await store.redraw(review_id, DEFAULT_PLACE, "card", delay=60.0)
        await store.redraw(review_id, DEFAULT_PLACE, "check", delay=60.0)
        assert await store.take_job(LANE, "draw") is None
        clock.now -= 3600.0
        job = await store.take_job(LANE, "draw")
        assert job is not None
        assert job.kind == "card"
        await store.finish_job(job)
        assert await store.take_job(LANE, "draw") is None
