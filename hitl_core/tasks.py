"""A TaskGroup that raises its first error itself, work that a cancellation does not stop halfway, and the end
of tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar, cast

T = TypeVar("T")


@asynccontextmanager
async def task_group() -> AsyncGenerator[asyncio.TaskGroup]:
    """`asyncio.TaskGroup` raises an ExceptionGroup, which no `except StoreUnavailable` catches. This raises
    the first error itself; the other tasks are cancelled.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        raise first_error(group) from None


def first_error(error: BaseException) -> BaseException:
    """The first error of a group, also of a group in it; any other error itself."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return first_error(group.exceptions[0])
    return error


async def run_to_end(work: Awaitable[T]) -> T:
    """Run it to its end even if the caller is cancelled; the cancellation is raised after that."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # retrieved, because asyncio warns about exceptions that nobody retrieved
        raise


def is_cancellation(error: BaseException) -> bool:
    """Whether the error means that somebody cancelled this task. Code in it may also raise CancelledError by
    itself, as it does when it awaits another task that was cancelled.
    """
    task = asyncio.current_task()
    is_asked = task is not None and task.cancelling() > 0
    return is_asked and isinstance(error, asyncio.CancelledError)


async def cancel_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel the tasks, and wait until they have ended."""
    tasks = list(tasks)
    running = set(tasks)
    # Repeated, because before Python 3.12 `asyncio.wait_for` can swallow a cancellation.
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=0.1)
    await asyncio.gather(*tasks, return_exceptions=True)
