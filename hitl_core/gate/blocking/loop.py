"""An event loop in a thread of its own, and what runs on it."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from hitl_core.errors import GateClosed

T = TypeVar("T")


class Runner(Protocol):
    """Runs an awaitable on the gate's event loop, and waits for its result."""

    def __call__(self, work: Awaitable[T]) -> T: ...


@contextmanager
def running_loop() -> Generator[Runner, None, None]:
    """The loop runs until the block ends. After that the Runner raises GateClosed."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="hitl-gate", daemon=True)
    thread.start()

    def run(work: Awaitable[T]) -> T:
        if loop.is_closed():
            if inspect.iscoroutine(work):
                work.close()
            raise GateClosed("The gate is not open: use it inside its `with`.")
        future = asyncio.run_coroutine_threadsafe(_await_result(work), loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C ends the wait, and does not change the review
            raise

    try:
        yield run
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _await_result(work: Awaitable[T]) -> T:
    return await work
