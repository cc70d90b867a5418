"""Updates the Homes that were opened recently."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from hitl_core.errors import HitlError, safe_message
from hitl_core.store import Store

from ..inbox import KEEP_FOR

log = logging.getLogger(__name__)

#: The shortest time between two updates of one person's Home, in seconds.
INTERVAL = 30.0


class HomeRefresher:
    """Several bots may run it in parallel: only one of them updates a Home. `publish` updates the Home of a
    person by id.
    """

    def __init__(
        self,
        store: Store,
        publish: Callable[[str], Awaitable[None]],
        *,
        interval: float = INTERVAL,
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
        for user_id in await self._store.home_viewers(await self._store.now() - self._keep_for):
            if await self._store.try_lock(f"home:{user_id}", self._interval):
                await self._refresh(user_id)

    async def _refresh(self, user_id: str) -> None:
        """Never raises, so that a failing Home does not stop the others."""
        try:
            await self._publish(user_id)
        except Exception as error:
            log.warning("the Home of %s could not be updated: %s", user_id, safe_message(error))
