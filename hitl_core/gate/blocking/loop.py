"""An event loop in a thread of its own, and what runs on it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from hitl_core.errors import GateClosed

T = TypeVar("T")

_CLOSED = "The gate is not open: use it inside its `with`."


class Runner(Protocol):
    """Runs an awaitable on the gate's event loop, and waits for its result."""

    def __call__(self, work: Awaitable[T]) -> T: ...


@contextmanager
def running_loop() -> Generator[Runner, None, None]:
    """The loop runs until the block ends. After that the Runner raises GateClosed, also in other threads that
    wait for it at that moment.
    """
    loop, opening, is_open = asyncio.new_event_loop(), threading.Lock(), True
    thread = threading.Thread(target=loop.run_forever, name="hitl-gate", daemon=True)
    thread.start()

    def run(work: Awaitable[T]) -> T:
        with opening:  # so that no work comes to the loop after its last one
            if is_open:
                future = asyncio.run_coroutine_threadsafe(_await_result(work), loop)
            else:
                if inspect.iscoroutine(work):
                    work.close()
                raise GateClosed(_CLOSED)
        try:
            return future.result()
        except concurrent.futures.CancelledError as error:
            raise GateClosed(_CLOSED) from error
        except BaseException:
            future.cancel()  # Ctrl-C ends the wait, and does not change the review
            raise

    try:
        yield run
    finally:
        with opening:
            is_open = False
        asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _cancel_others() -> None:
    """Cancel all other work of this loop, and wait until it has ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _await_result(work: Awaitable[T]) -> T:
    return await work
