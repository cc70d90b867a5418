"""Gates over a real Redis: each is one agent process, with connections and a heartbeat of its own."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from hitl_core.gate import Gate
from tests.support.builders import policy

Open = Callable[..., Awaitable[Gate]]


@pytest.fixture
async def open_gate(redis_url: str) -> AsyncIterator[Open]:
    """`await open_gate(lease=…, agent=…)`. Closed after the test."""
    async with contextlib.AsyncExitStack() as stack:

        async def make(url: str = redis_url, **options: Any) -> Gate:
            settings = {"policy": policy(), "agent": "billing", **options}
            return await stack.enter_async_context(Gate.connect(url, **settings))

        yield make


@pytest.fixture
async def gate(open_gate: Open) -> Gate:
    return await open_gate()
