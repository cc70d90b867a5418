"""The workers: background tasks that show reviews, apply due timers, and update open Homes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Protocol, Self

from hitl_core.errors import HitlError, safe_message
from hitl_core.model import split_id
from hitl_core.store import Store

from ..inbox import KEEP_FOR
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


#: The shortest time between two updates of one person's Home, in seconds.
HOME_INTERVAL = 30.0


class PublishHome(Protocol):
    """Updates the Home of the person with this id."""

    async def __call__(self, id: str, /) -> None: ...


class HomeRefresher:
    """Updates the Homes that were opened recently. Several bots may run it in parallel; only one of them
    updates a Home. `publish` has an entry for each channel that has Homes.
    """

    def __init__(
        self,
        store: Store,
        publish: Mapping[str, PublishHome],
        *,
        interval: float = HOME_INTERVAL,
        keep_for: float = KEEP_FOR,
    ) -> None:
        self._store, self._publish, self._interval, self._keep_for = (
            store,
            publish,
            interval,
            keep_for,
        )

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(self._interval / 3)
            try:
                await self.tick()
            except HitlError as error:
                log.warning("the list of open Homes could not be read: %s", error)

    async def tick(self) -> None:
        for person in await self._store.home_viewers(await self._store.now() - self._keep_for):
            if await self._store.try_lock(f"home:{person}", self._interval):
                await self._refresh(person)

    async def _refresh(self, person: str) -> None:
        """Never raises, so that a failing Home does not stop the others."""
        try:
            channel, id = split_id(person)
            if (publish := self._publish.get(channel)) is not None:
                await publish(id)
        except Exception as error:
            log.warning("the Home of %s could not be updated: %s", person, safe_message(error))
