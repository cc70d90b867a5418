"""The workers: background tasks that show reviews, apply due timers, and update open Homes."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol, Self

from hitl_core.errors import HitlError, safe_message

from .due_timers import DueTimers
from .outbox import Outbox

log = logging.getLogger(__name__)


class Worker(Protocol):
    async def run(self) -> None:
        """Runs until cancelled."""
        ...


class Workers:
    """The workers run while the block runs. If one stops by itself, the others continue and
    `check` raises.
    """

    def __init__(self, outbox: Outbox, timers: DueTimers, *others: Worker) -> None:
        self.outbox, self.timers, self.others = outbox, timers, others
        self._tasks: list[asyncio.Task[None]] = []

    def check(self) -> None:
        """Raises HitlError if a worker has stopped."""
        if any(task.done() for task in self._tasks):
            raise HitlError(
                "A worker of the bot has stopped. See the bot's log, and restart the bot."
            )

    async def __aenter__(self) -> Self:
        workers = (self.outbox, self.timers, *self.others)
        self._tasks = [asyncio.create_task(each.run()) for each in workers]
        for task in self._tasks:
            task.add_done_callback(_log_stop)
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            await self.outbox.drain()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)


def _log_stop(task: asyncio.Task[None]) -> None:
    """Log the error at once, because `check` refers the operators to the log."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a worker stopped: %s", safe_message(error))
