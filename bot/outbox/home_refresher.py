"""Keeps the Homes that people opened up to date."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import Protocol

from hitl_core.model import split_id
from hitl_core.store import Store

from ..channels.contract import NotFound, error_text
from ..health import Health
from ..inbox import KEEP_FOR

log = logging.getLogger(__name__)

#: The shortest time between two updates of one person's Home, in seconds.
HOME_INTERVAL = 30.0


#: The subject of the problem that Homes can't be updated.
_SUBJECT = "homes"


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
        health: Health,
        *,
        interval: float = HOME_INTERVAL,
    ) -> None:
        self._store, self._publish, self._health = store, publish, health
        self._interval = interval
        #: The people whose last update failed, by channel.
        self._failing = defaultdict[str, set[str]](set)

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(self._interval / 3)
            with self._health.report_errors("delivery", _SUBJECT, "Open Homes can't be updated"):
                await self.tick()

    async def tick(self) -> None:
        viewers = await self._store.home_viewers(await self._store.now() - KEEP_FOR)
        for people in self._failing.values():
            people &= {*viewers}
        for person in viewers:
            if await self._store.try_lock(f"home:{person}", self._interval):
                await self._refresh(person)

    async def _refresh(self, person: str) -> None:
        """Never raises, so that a failing Home does not stop the others. The second failure in a row is a
        problem, unless the person has left.
        """
        channel, id = split_id(person)
        try:
            if (publish := self._publish.get(channel)) is not None:
                await publish(id)
            self._forget(channel, person)
        except Exception as error:
            why = error_text(error)
            log.warning("the Home of %s could not be updated: %s", person, why)
            if isinstance(error, NotFound):
                self._failing[channel].discard(person)
                return
            if person in self._failing[channel]:
                text = (
                    f"Homes in {channel} can't be updated, so they may show what is decided and lack what"
                    f" waits: {why.rstrip('.')}."
                )
                self._health.report_error("delivery", f"{_SUBJECT} {channel}", error, text)
            self._failing[channel].add(person)

    def _forget(self, channel: str, person: str) -> None:
        """This Home is up to date."""
        self._failing[channel].discard(person)
        if not self._failing[channel]:
            self._health.resolve("delivery", f"{_SUBJECT} {channel}")
