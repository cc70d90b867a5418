"""A gate whose store is in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hitl_core import Gate
from hitl_core.store import MemoryStore
from tests.gate.guard.deciding import POLICY


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def gate(store: MemoryStore) -> AsyncIterator[Gate]:
    async with Gate(store, policy=POLICY, agent="script") as gate:
        yield gate
