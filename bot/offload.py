"""Work that would hold the event loop, on which everybody's clicks wait, runs in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from hitl_core.gate.submission.calls import has_more_than
from hitl_core.model import Review

T = TypeVar("T")

#: Up to so many bytes of arguments a review is drawn within a few milliseconds, which is less than a thread
#: is worth.
MAX_INLINE_ARGS = 16 * 1024
#: And with a schema of up to so many JSON values.
MAX_INLINE_SCHEMA = 500
#: A body of more bytes is read in a thread: this many may hold 8,000 JSON values.
MAX_INLINE_BODY = 16 * 1024
#: Where more is done than to parse it once, in bytes of JSON: two of them may be a value.
MAX_INLINE_JSON = 4 * 1024

#: One thread: several at once would each take their turn from the clicks, as threads share one lock.
_executor = ThreadPoolExecutor(1, thread_name_prefix="bodies")


async def offload_drawing(review: Review, draw: Callable[[], T]) -> T:
    """What `draw` returns: pure work on this review, in a thread where its arguments, their schemas or the
    rules that it keeps are large.
    """
    return draw() if _is_small(review) else await asyncio.to_thread(draw)


def _is_small(review: Review) -> bool:
    size = sum(len(args.data) for args in review.args.values()) + len(review.excerpt or "")
    if size > MAX_INLINE_ARGS:
        return False
    configs = [action.config for action in review.actions]
    schemas = [[config.args_schema, config.answer_schema] for config in configs]
    return not has_more_than(MAX_INLINE_SCHEMA, [schemas, review.tools])


async def offload_parsing(body: bytes, read: Callable[[bytes], T]) -> T:
    """What `read` returns for a body, in a thread where the body is large."""
    if len(body) <= MAX_INLINE_BODY:
        return read(body)
    return await offload_work(partial(read, body))


async def offload_work(work: Callable[[], T]) -> T:
    """What `work` returns. It must be short: such work runs one at a time."""
    return await asyncio.get_running_loop().run_in_executor(_executor, work)
