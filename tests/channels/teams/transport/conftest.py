"""A channel that knows all conversations of the local Teams."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.channels.teams import TeamsChannel
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from tests.support.teams.local import install_everywhere, make_channel


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def channel(sandbox: Sandbox, store: MemoryStore) -> AsyncIterator[TeamsChannel]:
    channel = make_channel(sandbox, store)
    await install_everywhere(sandbox, channel)
    await channel.start()
    yield channel
    await channel.close()
