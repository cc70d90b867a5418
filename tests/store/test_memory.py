"""The store contract, run on the store in memory."""

from __future__ import annotations

import pytest

from hitl_core.store import MemoryStore
from tests.store.contract import Pass, StoreContract
from tests.support.clock import Clock


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
