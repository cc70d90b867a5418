"""A gate with a store in memory, and a checkpointer on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_core.gate import Gate
from hitl_core.store import MemoryStore
from tests.integrations.agents import POLICY, Lab


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.db")) as saver:
        yield saver


@pytest.fixture
async def lab(saver: AsyncSqliteSaver, tmp_path: Path) -> AsyncIterator[Lab]:
    async with Gate(MemoryStore(), policy=POLICY, agent="billing", lease=1.0) as gate:
        yield Lab(gate, saver, tmp_path)
