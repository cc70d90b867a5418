"""A lane: works on the jobs of one conversation, in order, while this bot holds the lane's lease."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Protocol
from weakref import WeakValueDictionary

from hitl_core.errors import HitlError, ReviewNotFound, StoreUnavailable
from hitl_core.model import is_digest_id
from hitl_core.store import Job, LaneHalf, Store, note_lane_failure
from hitl_core.tasks import run_to_end, task_group

from ...channels.contract import (
    LookupFailed,
    NotFound,
    NotSent,
    RateLimited,
    Unreachable,
    error_text,
)
from ...health import Health
from . import failing_jobs
from .aside_jobs import MAX_FAILURES, AsideJobs
from .failing_jobs import SendResult, StuckJobs, TriedTooOften, give_up

log = logging.getLogger(__name__)

#: The longest pause before a retry when the channel or the store can't be reached, in seconds.
MAX_PAUSE = 5.0
#: The lease of a lane, in seconds. After it another bot takes the lane. Twice the longest call to a channel.
LANE_LEASE = 8.0
#: How long after a time-out a request may still be applied, in seconds.
LATE_WINDOW = 60.0
#: A job that failed this often is set aside, so that others continue. Later it gets one try at a time.
MAX_SENDS = 6
#: The same for a job that follows a successful one: the channel works, so the others need not wait for long.
MAX_SENDS_IN_WORKING_LANE = 3
#: How long a bot holds a lane while other lanes wait, in seconds.
MAX_HOLD = 30.0

#: Moves first cards of a lane into digests. Never raises.
Gather = Callable[[str], Awaitable[None]]


class Send(Protocol):
    def __call__(self, job: Job, *, again: bool) -> Awaitable[bool | None]:
        """`again`: an earlier attempt may have succeeded. True if late posts could not be looked for."""
        ...


class Lane:
    """Two halves work in parallel, for posts and for updates, because a channel limits these separately."""

    def __init__(
        self,
        name: str,
        store: Store,
        send: Send,
        health: Health,
        late_window: float,
        poll: float,
        aside: AsideJobs | None = None,
        gather: Gather | None = None,
    ) -> None:
        self._gather = gather
        self._aside = aside or AsideJobs()
        self.name, self._store, self._send = name, store, send
        self._late_window, self._poll = late_window, poll
        post, draw = asyncio.Event(), asyncio.Event()
        self._wakeups: dict[LaneHalf, asyncio.Event] = {"post": post, "draw": draw}
        self._idle_halves, self._closing, self._started_at = set[LaneHalf](), False, 0.0
        self._card_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._stuck = StuckJobs(health)
        self._draining = self.crowded = False

    def wake(self) -> None:
        for wakeup in self._wakeups.values():
            wakeup.set()

    def drain(self) -> None:
        """Start no more jobs."""
        self._draining = True
        self.wake()

    async def run(self) -> None:
        """Runs until there are no more jobs or it must stop. Jobs that were started are finished first."""
        self._started_at = time.monotonic()
        busy = True
        while busy and not self._must_stop():
            self._closing = False
            self._idle_halves.clear()
            async with task_group() as halves:
                works = [halves.create_task(self._run_half(half)) for half in self._wakeups]
            busy = any(work.result() for work in works)

    def _must_stop(self) -> bool:
        return self._draining or (self.crowded and time.monotonic() - self._started_at > MAX_HOLD)

    async def _run_half(self, half: LaneHalf) -> bool:
        """Runs the jobs of this half until both are idle for a while. Returns whether there was one."""
        busy = False
        while not (self._must_stop() or self._closing):
            self._wakeups[half].clear()
            if job := await self._take(half):
                busy = True
                self._idle_halves.discard(half)
                await self._process(half, job)
                continue
            self._idle_halves.add(half)
            try:
                async with asyncio.timeout(self._poll):
                    await self._wakeups[half].wait()
            except TimeoutError:
                self._closing = self._closing or len(self._idle_halves) == len(self._wakeups)
        return busy

    async def _take(self, half: LaneHalf) -> Job | None:
        with self._stuck.report_unread(half, self.name):
            if half == "post" and self._gather is not None:
                await self._gather(self.name)
            return await self._store.take_job(self.name, half, self._aside.paused_jobs())
        return None

    async def _process(self, half: LaneHalf, job: Job) -> None:
        if why := failing_jobs.why_given_up(job):
            log.error("review %s: its job was given up: %s", job.review_id, why)
            self._stuck.report_failure(job, why)
            await self._give_up(half, job, why, self._late_window)
            return
        try:
            failing_jobs.check_version(job)
            # Only one of the two halves may update a review's message at a time.
            async with self._card_locks.setdefault(job.review_id, asyncio.Lock()):
                failure, unsure = await self._send_with_retry(half, job)
        except TriedTooOften as error:
            gives_up = self._aside.add(job.member, error.seconds, stays=error.is_missing)
            if not gives_up or error.is_newer:
                await self._put_aside(half, job, error)
                return
            failure, unsure = f"it failed {MAX_FAILURES} times while others worked: {error}", True
            self._stuck.report_failure(job, failure)
        except asyncio.CancelledError:
            await run_to_end(failing_jobs.put_back(self._store, job))
            raise
        else:
            self._aside.remove(job.member)
        self._stuck.clear(half)
        late = self._late_window if unsure else None
        if failure is not None:
            await self._give_up(half, job, failure, late)
            return
        await self._finish(half, job, late)
        self._stuck.report_success(job)
        # The channel works again, so jobs that failed get their next try now, in the queue's order.
        self._aside.retry_all()

    async def _finish(self, half: LaneHalf, job: Job, late: float | None) -> None:
        """`late`: the seconds in which one of the job's requests may still be applied."""
        check = failing_jobs.follow_up_check(job, late)
        await self._write_with_retry(half, job, lambda: self._store.finish_job(job, check))

    async def _give_up(self, half: LaneHalf, job: Job, why: str, late: float | None) -> None:
        await self._write_with_retry(half, job, lambda: give_up(self._store, job, why, late))
        if is_digest_id(job.review_id):  # its reviews have cards now, which report failures
            await self._finish(half, job, late)
            self._stuck.report_success(job)

    async def _put_aside(self, half: LaneHalf, job: Job, error: TriedTooOften) -> None:
        """Leave a job in the queue for a while, so that it delays no other."""
        self._stuck.clear(half)
        log.error("review %s: %s is tried later: %s", job.review_id, job.place, error)
        if not error.seconds:
            self._stuck.report_failure(job, str(error))
            await note_lane_failure(self._store, job.lane, str(error))
        await failing_jobs.put_back(self._store, job)

    def report(self) -> None:
        """Report the jobs without progress for a while."""
        self._stuck.report()

    async def _send_with_retry(self, half: LaneHalf, job: Job) -> SendResult:
        """Deliver the job, also in several tries. Raises TriedTooOften if it takes too long."""
        pause, unsure, tries, refusals = 0.25, job.attempts > 1, 0, 0
        again, began = unsure, time.monotonic()
        self._stuck.note(half, job, began, "no answer yet, or rate limited")
        while True:
            try:
                is_unswept = await self._send(job, again=again)
                return SendResult(None, unsure or bool(is_unswept))
            except RateLimited as limited:
                refusals += 1
                error, seconds = str(limited), limited.pause(refusals)
                log.info("review %s: %s waits: %s", job.review_id, job.place, error)
            except (Unreachable, StoreUnavailable) as away:
                error, seconds = str(away), pause
                log.warning("review %s: %s must wait: %s", job.review_id, job.place, error)
                pause = min(pause * 2, MAX_PAUSE)
                if not isinstance(away, NotSent):  # it may have succeeded: look first
                    again, unsure = True, unsure or isinstance(away, Unreachable)
                if await failing_jobs.is_missing(self._store, job, away):
                    raise TriedTooOften(error, seconds, is_missing=True) from None
                tries += 1
                most = MAX_SENDS_IN_WORKING_LANE if self._aside.lane_works else MAX_SENDS
                if isinstance(away, Unreachable) and (job.member in self._aside or tries >= most):
                    raise TriedTooOften(error) from None
            except ReviewNotFound:
                return SendResult(None, unsure=False)
            except (NotFound, LookupFailed) as known:  # already reported
                log.error("review %s can't be shown at %s: %s", job.review_id, job.place, known)
                return SendResult(str(known), unsure or isinstance(known, LookupFailed))
            except Exception as refused:
                why = error_text(refused)
                if failing_jobs.can_wait(refused):
                    raise TriedTooOften(why) from None
                log.error("review %s can't be shown at %s: %s", job.review_id, job.place, why)
                self._stuck.report_failure(job, why)
                return SendResult(why, unsure)
            self._stuck.note(half, job, began, error)
            await self._sleep(seconds)
            if self._must_stop():
                raise TriedTooOften(error, seconds)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but end when the lane must stop."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._must_stop():  # noqa: ASYNC110
            await asyncio.sleep(min(left, 1.0))

    async def _write_with_retry(
        self, half: LaneHalf, job: Job, write: Callable[[], Awaitable[object]]
    ) -> None:
        """Record the result of the job. Retries until the store accepts it."""
        pause, began = 0.1, time.monotonic()
        while True:
            try:
                await write()
                break
            except HitlError as error:
                log.warning("review %s: its job is done but not recorded: %s", job.review_id, error)
                self._stuck.note(half, job, began, str(error))
                if await failing_jobs.is_missing(self._store, job, error):
                    break  # it stays in its queue, and counts as one that was begun
            await asyncio.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE)
        self._stuck.clear(half)
