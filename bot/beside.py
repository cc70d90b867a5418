"""What is large is read and written beside the event loop: one after the other, as threads share one lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

T = TypeVar("T")

#: A body of more bytes is read beside the event loop, not on it: this many may hold 8,000 JSON values.
MAX_INLINE_BODY = 16 * 1024
#: Where more is done than to parse it once, in bytes of JSON: two of them may be a value.
MAX_INLINE_JSON = 4 * 1024

_executor = ThreadPoolExecutor(1, thread_name_prefix="bodies")


async def offload_parsing(body: bytes, read: Callable[[bytes], T]) -> T:
    """What `read` makes of a body. Several threads at once would each take their turn from the clicks."""
    if len(body) <= MAX_INLINE_BODY:
        return read(body)
    return await offload_work(partial(read, body))


async def offload_work(work: Callable[[], T]) -> T:
    """What this answers. It must be short: of all that is done beside the loop, one thing at a time is."""
    return await asyncio.get_running_loop().run_in_executor(_executor, work)
