"""Runs a function in a thread, like `asyncio.to_thread`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


async def run_in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The function's result. Raises what it raises, but RuntimeError in place of StopIteration, as Python
    does in an async function: no future can hold a StopIteration, so older Pythons would wait forever.
    """

    def run() -> R:
        try:
            return function(*args, **kwargs)
        except StopIteration as error:
            raise RuntimeError("StopIteration was raised.") from error

    return await asyncio.to_thread(run)
