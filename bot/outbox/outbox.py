"""Posts and updates cards when reviews change. Every change reaches every card in order, or is reported."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import uuid4

from hitl_core.errors import HitlError
from hitl_core.review import Reviews
from hitl_core.tasks import run_to_end

from ..health import Health
from .delivery import Delivery
from .lane import LANE_LEASE, LATE_WINDOW, REPORT_AFTER, AsideJobs, Gather, Lane

log = logging.getLogger(__name__)

#: How often dead letters are retried, in seconds: the operator may have fixed the problem.
REQUEUE_INTERVAL = 300.0
#: While a look-up fails, dead letters are retried after this many seconds, then after twice as many, and so
#: on.
FIRST_REQUEUE = 5.0
#: The most conversations on which a bot works at the same time, and the most together with those that only
#: wait for a channel's rate limit. Others wait.
MAX_LANES, MAX_OPEN_LANES = 200, 2000
#: How long a failed lane is remembered, in seconds.
KEEP_ASIDE = 300.0
#: How long deliveries in progress may take at shutdown, in seconds.
DRAIN_TIMEOUT = 2.0
#: The subject of the problem that lanes wait for others.
_CROWD = "conversations"
_FAILS = "Cards can't be shown or updated as they should"


class Outbox:
    """One lane for each conversation (with its threads), held by one bot at a time. A slow, limited or broken
    lane does not delay others.

    In a Redis Cluster, a missing master delays the cards that it holds, and the lanes of which it knows who
    holds them. The others go on; `LossWatch` reports it.

    All bots of one Redis must have the same `lane_lease`: a bot that doesn't renew it within this time counts
    as dead.
    """

    def __init__(
        self,
        reviews: Reviews,
        delivery: Delivery,
        health: Health,
        *,
        lane_lease: float = LANE_LEASE,
        requeue_interval: float = REQUEUE_INTERVAL,
        late_window: float = LATE_WINDOW,
        gather: Gather | None = None,
    ) -> None:
        self._delivery, self._store, self._gather = delivery, reviews.store, gather
        self._lane_lease, self._requeue_interval, self._late_window = (
            lane_lease,
            requeue_interval,
            late_window,
        )
        self._health = health
        self._bot_id = uuid4().hex
        self._all_retried, self._requeue_pause = False, 0.0
        self.lanes: dict[str, Lane] = {}
        #: The jobs that are set aside, by lane.
        self._aside: dict[str, AsideJobs] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._tasks = asyncio.TaskGroup()
        self._readers: list[asyncio.Task[None]] = []
        self._draining = False

    async def run(self) -> None:
        """Runs until cancelled."""
        async with self._tasks as tasks:
            for step in (
                self._listen,
                self._scan_lanes,
                self._renew_lanes,
                self._retry_all,
            ):
                self._readers.append(tasks.create_task(self._repeat(step)))

    async def drain(self) -> None:
        """Start nothing more, finish the jobs in progress, and release all others to other bots at once."""
        self._draining = True
        for reader in self._readers:
            reader.cancel()
        running = list(self._running.values())
        for lane in self.lanes.values():
            lane.drain()
        if running:
            await asyncio.wait(running, timeout=DRAIN_TIMEOUT)
        for task in running:
            task.cancel()
        await asyncio.gather(*self._readers, *running, return_exceptions=True)

    async def _listen(self) -> None:
        for lane in await self._store.lane_hints(block=2.0):
            await self._open_lane(lane)

    async def _scan_lanes(self) -> None:
        """Find jobs for which no hint came: jobs that another bot left, and jobs that became due."""
        limit = 2 * MAX_LANES + len(self.lanes) + len(self._aside)
        names = await self._store.lanes(limit, missing=set())
        refused = 0
        for lane in sorted(names, key=self._aside.__contains__):
            # Failed lanes take no place from others.
            if lane in self.lanes or not self._is_paused(lane):
                refused += not await self._open_lane(lane)
        await self._report_crowd(refused)
        await asyncio.sleep(self._lane_lease / 4)

    async def _report_crowd(self, refused: int) -> None:
        """Report cards that wait for long because this bot works on as many conversations as it can."""
        oldest = (await self._store.backlog(set())).oldest if refused else None
        if oldest is None or await self._store.now() - oldest < REPORT_AFTER:
            self._health.resolve("delivery", _CROWD)
            return
        text = (
            "Cards wait because there is work in more conversations than this bot does at the same time. They"
            " take turns. Run more bots."
        )
        self._health.report("delivery", _CROWD, text)

    def _is_paused(self, name: str) -> bool:
        """Whether all known jobs of this lane are set aside: it takes no place from others until a hint
        comes.
        """
        return name in self._aside and bool(self._aside[name].paused_jobs())

    async def _renew_lanes(self) -> None:
        """Renews the leases of this bot's lanes, and reports stuck jobs."""
        await asyncio.sleep(self._lane_lease / 4)
        for lane in self.lanes.values():
            lane.report()
        names, unknown = list(self.lanes), set[str]()
        held = await self._store.hold_lanes(names, self._bot_id, self._lane_lease, unknown)
        for lost in set(names) - held - unknown:
            log.warning("another bot has taken over %s", lost)
            if lane := self.lanes.get(lost):
                lane.drain()

    async def _retry_all(self) -> None:
        """Retry the dead letters, and look at all lanes: after the store's clock was set back, cards that
        were queued before are due only later, and nothing else would find them until then.
        """
        if self._all_retried:
            await self._wait_requeue()
            self._all_retried = False
        if requeued := await self._store.requeue_dead_letters(set()):
            log.info("the undelivered cards of %d reviews are retried", requeued)
        for lane in await self._store.lanes(2 * MAX_LANES, later=True, missing=set()):
            await self._open_lane(lane)
        self._all_retried = True

    async def _wait_requeue(self) -> None:
        """Wait for the next retry. While a look-up fails the wait is short, because only a retry may find
        that it works again. The wait ends at once when a look-up starts to fail or works again, but takes at
        least FIRST_REQUEUE.
        """
        soon, changed = min(FIRST_REQUEUE, self._requeue_interval), self._health.lookups_changed
        fails = self._health.counts()["lookup"] > 0
        self._requeue_pause = (
            min(max(2 * self._requeue_pause, soon), self._requeue_interval) if fails else 0.0
        )
        changed.clear()
        await asyncio.sleep(soon)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout((self._requeue_pause or self._requeue_interval) - soon):
                await changed.wait()

    async def _open_lane(self, name: str) -> bool:
        """Work on this lane, if no other bot holds it. Returns False if there is no room for it."""
        if name in self.lanes:
            self.lanes[name].wake()
            return True
        working = len(self.lanes) - self._delivery.waiting
        if working >= MAX_LANES or len(self.lanes) >= MAX_OPEN_LANES:
            for lane in self.lanes.values():
                lane.crowded = True
            return False
        if self._draining or not await self._store.hold_lanes(
            [name], self._bot_id, self._lane_lease, set()
        ):
            return True
        if name not in self.lanes:
            self.lanes[name] = Lane(
                name,
                self._store,
                self._delivery.run_job,
                self._health,
                self._late_window,
                self._lane_lease / 8,
                self._aside.setdefault(name, AsideJobs()),
                self._gather,
            )
            self._running[name] = self._tasks.create_task(self._run_lane(name))
        return True

    async def _run_lane(self, name: str) -> None:
        try:
            with self._health.report_errors("delivery", f"lane {name}", f"{_FAILS} in {name}"):
                await self.lanes[name].run()
        finally:
            oldest = time.monotonic() - KEEP_ASIDE
            if self._aside[name].all_ended_before(oldest):
                del self._aside[name]
            del self.lanes[name], self._running[name]
            with contextlib.suppress(HitlError):
                await run_to_end(self._store.release_lane(name, self._bot_id))

    async def _repeat(self, step: Callable[[], Coroutine[Any, Any, None]]) -> None:
        pause, subject = 0.0, f"outbox: {step.__name__.strip('_')}"
        while True:
            await asyncio.sleep(pause)
            pause = min(max(2 * pause, 0.1), 2.0)
            with self._health.report_errors("delivery", subject, _FAILS):
                await step()
                pause = 0.0
