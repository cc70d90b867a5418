"""Runs long work in threads, because it would block the event loop for all clicks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

from hitl_core.model import Arguments, Review, parsed_has_more_values

T = TypeVar("T")

#: A review with at most this many bytes of arguments is drawn in a few milliseconds, so it needs no thread.
#: Each JSON value counts like that many bytes of one text, and letters that are not ASCII count more.
MAX_INLINE_ARGS = 16 * 1024
_VALUE_BYTES, _LETTER_FACTOR = 60, 8
#: The same limit for the JSON values of its schemas.
MAX_INLINE_SCHEMA = 500
#: A body with more bytes is parsed in a thread: this many bytes may have 8,000 JSON values.
MAX_INLINE_BODY = 16 * 1024
#: The same limit, in bytes of JSON, for work that does more than parse, because two bytes may be one value.
MAX_INLINE_JSON = 4 * 1024

#: Only one thread: all threads share Python's lock, so several would slow down the clicks. Clicks have their
#: own thread, and never wait for agents.
_executor = ThreadPoolExecutor(1, thread_name_prefix="bodies")
_click_executor = ThreadPoolExecutor(1, thread_name_prefix="clicks")
#: The token whose request runs now. Of each token, only one piece of work at a time waits for the thread, so
#: that all tokens take turns.
_token: ContextVar[str] = ContextVar("token", default="")
_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


def set_token(id: str) -> None:
    """What the current task offloads after this is work of this token."""
    _token.set(id)


async def offload_drawing(review: Review, draw: Callable[[], T]) -> T:
    """Returns `draw()`. It must be pure work on this review; it runs in a thread if the review's arguments,
    schemas or rules are large.
    """
    return draw() if is_small(review) else await asyncio.to_thread(draw)


def is_small(review: Review) -> bool:
    """Whether the review is drawn in a few milliseconds, so that it needs no thread."""
    size = sum(map(_size, review.args.values())) + len(review.kept_policy or "")
    if size > MAX_INLINE_ARGS:
        return False
    configs = [
        config
        for action in review.actions
        for config in (action.config, *(terms.config for terms in action.earlier))
    ]
    schemas = [
        [one.args_schema, one.policy_schema, one.hiding_schema, one.answer_schema]
        for one in configs
    ]
    return not parsed_has_more_values([schemas, review.tools], MAX_INLINE_SCHEMA)


def _size(args: Arguments) -> int:
    """The size in bytes of an ASCII text that takes about as long. Each comma may begin a value."""
    data = args.data
    letters = len(data) if data.isascii() else len(data) * _LETTER_FACTOR
    return letters + data.count(b",") * _VALUE_BYTES


async def offload_parsing(body: bytes, read: Callable[[bytes], T]) -> T:
    """Returns `read(body)`, in a thread if the body is large."""
    return read(body) if len(body) <= MAX_INLINE_BODY else await offload_work(partial(read, body))


async def offload_click_parsing(body: bytes, read: Callable[[bytes], T]) -> T:
    """Like `offload_parsing`, for a person's request."""
    if len(body) <= MAX_INLINE_BODY:
        return read(body)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_click_executor, partial(read, body))


async def offload_work(work: Callable[[], T]) -> T:
    """Returns `work()`, from a thread. It must be short, because only one runs at a time."""
    async with _locks.setdefault(_token.get(), asyncio.Lock()):
        return await asyncio.get_running_loop().run_in_executor(_executor, work)
