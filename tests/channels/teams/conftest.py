"""A local Teams for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with running_sandbox() as running:
        yield running
