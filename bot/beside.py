"""Reading what is large beside the event loop: one after the other, as threads share one lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

#: A body of more bytes is read beside the event loop, not on it.
LARGE = 64 * 1024

_reader = ThreadPoolExecutor(1, thread_name_prefix="bodies")


async def read_beside(body: bytes, read: Callable[[bytes], T]) -> T:
    """What `read` makes of a body. Several threads at once would each take their turn from the clicks."""
    if len(body) <= LARGE:
        return read(body)
    return await asyncio.get_running_loop().run_in_executor(_reader, read, body)
