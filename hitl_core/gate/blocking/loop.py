"""An event loop in a thread of its own, and what runs on it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol, TypeVar

from hitl_core.errors import GateClosed

T = TypeVar("T")

_CLOSED = "The gate is not open: use it inside its `with`."
_FORKED = (
    "The gate was opened before this process was forked, and its thread is not here: open a gate in each"
    " process, after the fork."
)


class Runner(Protocol):
    """Runs a coroutine on the gate's event loop, and waits for its result."""

    def __call__(self, work: Coroutine[Any, Any, T]) -> T: ...


@contextmanager
def running_loop() -> Generator[Runner, None, None]:
    """The loop runs until the block ends. After that the Runner raises GateClosed, also in other threads that
    wait for it at that moment, and in a process that is forked from this one.
    """
    loop, opening, is_open = asyncio.new_event_loop(), threading.Lock(), True
    process = os.getpid()
    thread = threading.Thread(target=loop.run_forever, name="hitl-gate", daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, T]) -> T:
        if process != os.getpid():
            _refuse(work, _FORKED)
        with opening:  # so that no work reaches the loop after it has ended
            if not is_open:
                _refuse(work, _CLOSED)
            future = asyncio.run_coroutine_threadsafe(work, loop)
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
        if process == os.getpid():
            with opening:
                is_open = False
            asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


def _refuse(work: Coroutine[Any, Any, object], why: str) -> NoReturn:
    work.close()
    raise GateClosed(why)


async def _cancel_others() -> None:
    """Cancel all other work of this loop, and wait until it has ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)
