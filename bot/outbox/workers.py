"""The half of the bot that answers nobody: it shows reviews, and does what time does."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol, Self

from hitl_core.errors import HitlError, safe_message

from .escalator import Escalator
from .outbox import Outbox

log = logging.getLogger(__name__)


class Worker(Protocol):
    async def run(self) -> None:
        """For ever."""
        ...


class Workers:
    """They work while the block runs. One that stops by itself ends nothing: `check` tells it."""

    def __init__(self, outbox: Outbox, escalator: Escalator, *others: Worker) -> None:
        self.outbox, self.escalator, self.others = outbox, escalator, others
        self._tasks: list[asyncio.Task[None]] = []

    def check(self) -> None:
        """Raises HitlError where one has stopped."""
        if any(task.done() for task in self._tasks):
            raise HitlError("A worker of the bot has stopped. Restart the bot; its log says why.")

    async def __aenter__(self) -> Self:
        workers = (self.outbox, self.escalator, *self.others)
        self._tasks = [asyncio.create_task(each.run()) for each in workers]
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            await self.outbox.drain()
        finally:
            for task in self._tasks:
                task.cancel()
            for outcome in await asyncio.gather(*self._tasks, return_exceptions=True):
                if isinstance(outcome, Exception):
                    log.error("a worker had stopped: %s", safe_message(outcome))
