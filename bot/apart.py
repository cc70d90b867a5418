"""Drawing what is large away from the event loop, on which everybody's clicks wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from hitl_core.model import Review

T = TypeVar("T")

#: Up to so many bytes of arguments a review is drawn within a few milliseconds, which is less than a thread
#: is worth.
MAX_INLINE_ARGS = 16 * 1024


async def offload_drawing(review: Review, draw: Callable[[], T]) -> T:
    """What `draw` gives; pure work on this review, in a thread where its arguments are large."""
    if sum(len(args.data) for args in review.args.values()) <= MAX_INLINE_ARGS:
        return draw()
    return await asyncio.to_thread(draw)
