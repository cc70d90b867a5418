"""Waiting for something to become true, in place of sleeping for long enough."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

_POLL = 0.005  # seconds


async def wait_until(description: str, condition: Callable[[], Any], timeout: float = 30) -> Any:
    """The first truthy answer of `condition` (sync or async), or a failure that says `description`.

    Exceptions of `condition` are not caught: they end the wait. How fast something is, is never tested
    by `timeout`: it must last on a machine that does four other things.
    """
    deadline = asyncio.get_running_loop().time() + timeout
    while True:
        answer = condition()
        value = await answer if inspect.isawaitable(answer) else answer
        if value:
            return value
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"after {timeout} s still not: {description} (last: {value!r})")
        await asyncio.sleep(_POLL)
