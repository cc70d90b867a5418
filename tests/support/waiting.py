"""Waits until something becomes true, in place of sleeping for a fixed time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

_POLL = 0.005  # seconds


async def wait_until(description: str, condition: Callable[[], Any], timeout: float = 60) -> Any:
    """Returns the first truthy result of `condition` (sync or async), or fails with `description`.

    Exceptions of `condition` are not caught: they end the wait. `timeout` never tests how fast something is:
    it must be long enough for a busy machine.
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
