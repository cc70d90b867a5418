"""Gates over a real Redis: each is one agent process, with connections and a heartbeat of its own."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import redis

from hitl_core.gate import Gate
from tests.support.builders import policy
from tests.support.waiting import wait_until

Open = Callable[..., Awaitable[Gate]]


@pytest.fixture
async def open_gate(redis_url: str) -> AsyncIterator[Open]:
    """`await open_gate(lease=…, agent=…)`. Closed after the test."""
    opened: Counter[str] = Counter()
    async with contextlib.AsyncExitStack() as stack:

        async def make(url: str = redis_url, **options: Any) -> Gate:
            settings = {"policy": policy(), "agent": "billing", **options}
            made = await stack.enter_async_context(Gate.connect(url, **settings))
            opened[url] += 1
            # redis-py leaves a connection half open whose command is cancelled while it is sent, so a
            # gate that is closed at once would warn: it listens first.
            await wait_until("it listens", lambda: listeners(url) >= opened[url])
            return made

        yield make


def listeners(url: str) -> int:
    """How many gates wait in this Redis."""
    with redis.Redis.from_url(url) as client:
        info: Any = client.info("clients")
    return int(info["blocked_clients"])


@pytest.fixture
async def gate(open_gate: Open) -> Gate:
    return await open_gate()
