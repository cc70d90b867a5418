"""Events → cards → post or update. Every change reaches every card, in order, or is seen not to."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import uuid4

from bot.delivery import Delivery
from bot.health import Health
from bot.lane import LATE, Lane
from hitl_core.errors import HitlError, told
from hitl_core.review.service import Reviews

log = logging.getLogger(__name__)

#: The least time between two messages to one conversation, in seconds: Slack takes about one a second.
PACE = 1.0
#: A lane whose bot said nothing for this long is taken over, in seconds. Twice the longest call to a channel.
IDLE = 8.0
#: Dead letters are tried again this often: the operator may have mended what was wrong.
REVIVE = 300.0
#: While a look-up fails, they are tried again after this many seconds, then after twice as many, and so on.
SOON = 5.0
#: How many conversations a bot works on at a time. Others wait, and have their turn.
MAX_LANES = 200
#: How long deliveries that are under way may take at the end, in seconds.
LAST_DELIVERIES = 2.0


class Outbox:
    """One lane a conversation, with its threads, held by one bot at a time: one that is slow, limited or
    broken holds up no other.

    All bots of one Redis must have the same `idle`: it is when they take each other for dead.
    """

    def __init__(
        self,
        reviews: Reviews,
        delivery: Delivery,
        *,
        idle: float = IDLE,
        revive: float = REVIVE,
        late: float = LATE,
        health: Health | None = None,
    ) -> None:
        self._delivery, self._store = delivery, reviews.store
        self._idle, self._revive_every, self._late = idle, revive, late
        self._health = health or Health()
        self._bot = uuid4().hex
        self._pause = 0.0
        self.lanes: dict[str, Lane] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._tasks = asyncio.TaskGroup()
        self._readers: list[asyncio.Task[None]] = []
        self._leaving = False

    async def run(self) -> None:
        """For ever."""
        async with self._tasks as tasks:
            for step in (self._listen, self._look, self._hold, self._revive):
                self._readers.append(tasks.create_task(self._forever(step)))

    async def leave(self) -> None:
        """Begin nothing more, finish what was begun, and let other bots have the rest at once."""
        self._leaving = True
        for reader in self._readers:
            reader.cancel()
        running = list(self._running.values())
        for lane in self.lanes.values():
            lane.leave()
        if running:
            await asyncio.wait(running, timeout=LAST_DELIVERIES)
        for task in running:
            task.cancel()
        await asyncio.gather(*self._readers, *running, return_exceptions=True)

    async def _listen(self) -> None:
        for lane in await self._store.lane_hints(block=2.0):
            await self._open(lane)

    async def _look(self) -> None:
        """For what no hint told: what another bot left, and what is to be done only now."""
        for lane in await self._store.lanes(2 * MAX_LANES):
            await self._open(lane)
        await asyncio.sleep(self._idle / 4)

    async def _hold(self) -> None:
        """The lanes that this bot works on are its own for as long as it lives."""
        await asyncio.sleep(self._idle / 4)
        for lane in self.lanes.values():
            lane.report()
        names = list(self.lanes)
        for lost in set(names) - await self._store.hold_lanes(names, self._bot, self._idle):
            log.warning("another bot has taken over %s", lost)
            if lane := self.lanes.get(lost):
                lane.leave()

    async def _revive(self) -> None:
        if revived := await self._store.revive():
            log.info("the undelivered cards of %d reviews are tried again", revived)
        await self._revival_is_due()

    async def _revival_is_due(self) -> None:
        """While a look-up fails, that is soon: nothing but such a try may find that it works again. When one
        begins to fail or works again it is at once, but not more often than every SOON.
        """
        soon, changed = min(SOON, self._revive_every), self._health.lookups_changed
        fails = self._health.counts()["lookup"] > 0
        self._pause = min(max(2 * self._pause, soon), self._revive_every) if fails else 0.0
        changed.clear()
        await asyncio.sleep(soon)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout((self._pause or self._revive_every) - soon):
                await changed.wait()

    async def _open(self, name: str) -> None:
        """Work on this lane, unless another bot does."""
        if name in self.lanes:
            self.lanes[name].wake()
            return
        if len(self.lanes) >= MAX_LANES:
            for lane in self.lanes.values():
                lane.crowded = True
            return
        if self._leaving or not await self._store.hold_lanes([name], self._bot, self._idle):
            return
        if name not in self.lanes:
            self.lanes[name] = Lane(
                name, self._store, self._delivery.do, self._health, self._late, self._idle / 8
            )
            self._running[name] = self._tasks.create_task(self._work(name))

    async def _work(self, name: str) -> None:
        try:
            await self.lanes[name].run()
        except Exception as error:
            log.warning("outbox: %s: %s", name, told(error))
        finally:
            del self.lanes[name], self._running[name]
            with contextlib.suppress(HitlError):
                await asyncio.shield(self._store.leave_lane(name, self._bot))

    async def _forever(self, step: Callable[[], Coroutine[Any, Any, None]]) -> None:
        pause = 0.1
        while True:
            try:
                await step()
                pause = 0.1
            except Exception as error:
                log.warning("outbox: %s", told(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, 2.0)
