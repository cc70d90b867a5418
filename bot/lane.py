"""One conversation, while this bot holds it: its cards in order, one at a time, each in its newest state."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

from bot.channel import ChannelError, Limited, LookupFailed, NotThere, Unreachable
from bot.health import Health
from hitl_core.errors import HitlError, ReviewNotFound, StoreUnavailable, told
from hitl_core.store import Check, Job, Store
from hitl_core.store.base import Half

log = logging.getLogger(__name__)

#: A channel or a store that is away is asked again after this many seconds at the latest.
MAX_PAUSE = 5.0
#: For so long a request that nobody waits for any more can still be applied, in seconds.
LATE = 60.0
#: A job that was begun this often and never finished is given up.
MAX_TIMES = 5
#: A job that makes no progress for so long is reported, in seconds.
PATIENCE = 60.0
#: How long a bot holds a lane while others wait for one, in seconds.
TURN = 30.0


class Send(Protocol):
    def __call__(self, job: Job, *, again: bool) -> Awaitable[None]:
        """`again`: an earlier try may have been applied."""
        ...


@dataclass(frozen=True)
class Stuck:
    """A job that makes no progress: which, since when by `time.monotonic`, and why."""

    job: Job
    since: float
    why: str


class Lane:
    """Posts and drawings go side by side: they have limits of their own. `late` as LATE."""

    def __init__(
        self, name: str, store: Store, send: Send, health: Health, late: float, poll: float
    ) -> None:
        self.name, self._store, self._send, self._health = name, store, send, health
        self._late, self._poll = late, poll
        self._news: dict[Half, asyncio.Event] = {"post": asyncio.Event(), "draw": asyncio.Event()}
        self._resting, self._closing, self._began = set[Half](), False, 0.0
        self._cards: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._leaving = False
        self.stuck: dict[Half, Stuck] = {}
        self.crowded = False

    def wake(self) -> None:
        for news in self._news.values():
            news.set()

    def leave(self) -> None:
        """Begin nothing more."""
        self._leaving = True
        self.wake()

    async def run(self) -> None:
        """Until nothing is left to do here, or it has to leave: what it began is through then."""
        self._began = time.monotonic()
        busy = True
        while busy and not self._over():
            self._closing = False
            self._resting.clear()
            async with asyncio.TaskGroup() as halves:
                works = [halves.create_task(self._work(half)) for half in self._news]
            busy = any(work.result() for work in works)

    def _over(self) -> bool:
        return self._leaving or (self.crowded and time.monotonic() - self._began > TURN)

    async def _work(self, half: Half) -> bool:
        """The jobs of this half, until neither has anything to do for a while; whether there was one."""
        busy = False
        while not (self._over() or self._closing):
            self._news[half].clear()
            if job := await self._take(half):
                busy = True
                self._resting.discard(half)
                await self._do(half, job)
                continue
            self._resting.add(half)
            try:
                async with asyncio.timeout(self._poll):
                    await self._news[half].wait()
            except TimeoutError:
                self._closing = self._closing or len(self._resting) == len(self._news)
        return busy

    async def _take(self, half: Half) -> Job | None:
        try:
            return await self._store.take(self.name, half)
        except HitlError as error:
            log.warning("%s: %s", self.name, error)
            return None

    async def _do(self, half: Half, job: Job) -> None:
        if job.kind == "unknown" or job.times > MAX_TIMES:
            why = "it can't be read" if job.kind == "unknown" else "it was begun too often"
            log.error("review %s: its card was given up: %s", job.review_id, why)
            await self._patiently(half, job, lambda: self._store.bury(job, why))
            self._tell(job, why)
            return
        try:
            # One message is drawn by one of the two halves at a time.
            async with self._cards.setdefault(job.review_id, asyncio.Lock()):
                failure, unsure = await self._deliver(half, job)
        except asyncio.CancelledError:
            await asyncio.shield(self._put_back(job))
            raise
        if failure and job.kind == "card":
            await self._patiently(half, job, lambda: self._store.bury(job, failure))
        else:
            check = self._check(half, job, unsure)
            await self._patiently(half, job, lambda: self._store.finish(job, check))
        self.stuck.pop(half, None)
        if failure is None:
            self._tell(job, None)

    def report(self) -> None:
        """The jobs that have made no progress for PATIENCE."""
        for stuck in self.stuck.values():
            if time.monotonic() - stuck.since >= PATIENCE:
                self._tell(stuck.job, stuck.why)

    def _tell(self, job: Job, why: str | None) -> None:
        """What keeps this card from being shown; None: nothing does any more."""
        subject = f"{job.review_id} at {job.place}"
        if why is None:
            self._health.resolve("delivery", subject)
        else:
            text = f"The review {job.review_id} can't be shown at {job.place}: {why}."
            self._health.report("delivery", subject, text)

    def _check(self, half: Half, job: Job, unsure: bool) -> Check:
        """An earlier request of it may still be applied: then it is looked at once more."""
        after = self._late if unsure and job.kind != "stray" else None
        if half == "post" or job.kind == "sweep":
            return Check("sweep", after, f"{job.since:.6f}")
        return Check("check", after)

    async def _deliver(self, half: Half, job: Job) -> tuple[str | None, bool]:
        """Why it can't be delivered, or None; and whether one of its requests may still be applied. Tries
        again as long as the channel or the store is only away.
        """
        pause, unsure = 0.25, job.times > 1
        again = unsure
        began = time.monotonic()
        self.stuck[half] = Stuck(job, began, "no answer yet, or limited")
        while True:
            try:
                await self._send(job, again=again)
                return None, unsure
            except Limited as limited:
                error, seconds = f"limited for {limited.seconds:.0f} s", limited.seconds
                log.info("review %s: %s waits: %s", job.review_id, job.place, error)
            except (Unreachable, StoreUnavailable) as away:
                error, seconds = str(away), pause
                log.warning("review %s: %s has to wait: %s", job.review_id, job.place, error)
                pause = min(pause * 2, MAX_PAUSE)
                again = True  # it may have been applied: look first
                unsure = unsure or isinstance(away, Unreachable)
            except ReviewNotFound:
                return None, False
            except (
                NotThere,
                LookupFailed,
            ) as known:  # a problem already: of the place or the look-up
                log.error("review %s can't be shown at %s: %s", job.review_id, job.place, known)
                return str(known), unsure
            except Exception as refused:
                why = str(refused) if isinstance(refused, ChannelError) else told(refused)
                log.error("review %s can't be shown at %s: %s", job.review_id, job.place, why)
                self._tell(job, why)
                return why, unsure
            self.stuck[half] = Stuck(job, began, error)
            await asyncio.sleep(seconds)

    async def _patiently(
        self, half: Half, job: Job, write: Callable[[], Awaitable[object]]
    ) -> None:
        """It is done, and has to be ticked off."""
        pause = 0.1
        while True:
            try:
                await write()
                return
            except HitlError as error:
                log.warning("review %s: shown, but not ticked off: %s", job.review_id, error)
                self.stuck[half] = Stuck(job, time.monotonic(), str(error))
            await asyncio.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE)

    async def _put_back(self, job: Job) -> None:
        try:
            await self._store.put_back(job)
        except HitlError as error:
            log.warning("review %s: not put back: %s", job.review_id, error)
