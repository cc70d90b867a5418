"""Unexpected errors where a bot meets the outside: in its connection to Redis, or to a chat system. Only
clicks get them; the bot's background work continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from aiohttp import ClientSession
from redis.exceptions import ResponseError

from bot import click_budget
from hitl_core.store.redis.connection.batches import BatchingRedis

#: An error of an unknown type, and an error reply of Redis.
UNKNOWN, OF_REDIS = RuntimeError("canary-5f1d"), ResponseError("ERR something")


@contextmanager
def failing_redis(error: Exception) -> Iterator[list[Exception]]:
    """Every Redis command of a click raises `error`. The yielded list has one entry for each."""
    # This patches the client and not its connections, because a connection sends the commands of many clicks
    # together.
    with _failing(BatchingRedis, "execute_command", error) as raised:
        yield raised


@contextmanager
def failing_chat(error: Exception) -> Iterator[list[Exception]]:
    """The first request of a click to the chat system raises `error`."""
    with (
        _failing(httpx.AsyncClient, "send", error, times=1) as teams,
        _failing(ClientSession, "_request", error, times=1) as slack,
    ):
        yield (raised := list[Exception]())
        raised += [*teams, *slack]


@contextmanager
def _failing(
    library: type, method: str, error: Exception, *, times: int | None = None
) -> Iterator[list[Exception]]:
    original, raised = getattr(library, method), list[Exception]()

    async def fail(self: Any, *args: Any, **options: Any) -> Any:
        in_click = click_budget._deadline.get() is not None
        if in_click and (times is None or len(raised) < times):
            raised.append(error)
            raise type(error)(*error.args)
        return await original(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, method, fail)
        yield raised
