"""What a bot keeps: its reviews, in memory, and its problems."""

from __future__ import annotations

import pytest

from bot.health.health import Health
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.support.builders import START


@pytest.fixture
def reviews() -> Reviews:
    return Reviews(MemoryStore(lambda: START))


@pytest.fixture
def health() -> Health:
    return Health()
