"""The failing jobs of a lane: how they end, and the reports of those without progress."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from hitl_core.errors import (
    DigestUnreadable,
    HitlError,
    ReviewTooNew,
    ReviewUnreadable,
    StoreError,
    StoreUnavailable,
    safe_message,
)
from hitl_core.model import is_digest_id, short_id
from hitl_core.store import Job, LaneHalf, Recheck, Store

from ...health import Health, delivery_subject

log = logging.getLogger(__name__)

#: A job without progress for this time is reported, in seconds.
REPORT_AFTER = 60.0


class SendResult(NamedTuple):
    """What became of a job. `failure`: why it can't be delivered; None if it was. `unsure`: one of its
    requests may still be applied.
    """

    failure: str | None
    unsure: bool


#: A job that was started this often without being finished is given up.
MAX_STARTS = 5


def why_given_up(job: Job) -> str | None:
    """Why a job that was just started must not be done; None if it may."""
    if job.kind == "unknown":
        return "the job can't be read"
    if job.attempts > MAX_STARTS:
        return f"it was started {MAX_STARTS} times and never finished"
    return None


def follow_up_check(job: Job, late: float | None) -> Recheck:
    """The later check of a card: at once if two bots drew the card, and after `late` seconds if an earlier
    request may still be applied. A sweep that follows another one waits longer each time.
    """
    if job.kind == "sweep":
        since = float(job.note) or job.first_at  # 0: unknown
        return Recheck("sweep", late and max(late, job.first_at - since), job.note)
    if job.half == "post" or job.kind == "digest":
        return Recheck("sweep", late, f"{job.first_at:.6f}")
    return Recheck("check", late)


async def give_up(store: Store, job: Job, why: str, late: float | None = None) -> None:
    """Move the job to the dead letters, or dissolve its digest, so that no failure is missed. `late`: the
    seconds in which one of its requests may still be applied. After them the card is checked, as if the job
    had succeeded. Raises StoreUnavailable.
    """
    if is_digest_id(job.review_id):
        log.error("the digest %s is dissolved, so its reviews get cards: %s", job.review_id, why)
        await store.dissolve_digest(job.review_id, job.place)
        return
    match job.kind:
        case "card" | "newer" | "unknown" | "check" | "sweep" | "stray" | "digest":
            # A sweep waits longer each time. A check would add a dead letter every minute.
            check = follow_up_check(job, late) if job.kind in ("card", "sweep") else None
            await store.move_to_dead_letters(job, why, check)
        case _:
            assert_never(job.kind)


@dataclass(frozen=True)
class _StuckJob:
    job: Job
    since: float
    why: str


class StuckJobs:
    """The jobs of the lane without progress: at most one for each half."""

    def __init__(self, health: Health) -> None:
        self._health = health
        self._jobs: dict[LaneHalf, _StuckJob] = {}

    def note(self, half: LaneHalf, job: Job, since: float, why: str) -> None:
        """Note that this job makes no progress. `since` is by `time.monotonic`."""
        self._jobs[half] = _StuckJob(job, since, why)

    def clear(self, half: LaneHalf) -> None:
        self._jobs.pop(half, None)

    def report(self) -> None:
        """Report the jobs that made no progress for REPORT_AFTER."""
        for stuck in self._jobs.values():
            if time.monotonic() - stuck.since >= REPORT_AFTER:
                self.report_failure(stuck.job, stuck.why)

    @contextmanager
    def report_unread(self, half: LaneHalf, lane: str) -> Generator[None]:
        """Report that the next job can't be read, in place of raising the error; if it can, that is over."""
        subject = f"jobs {half} {lane}"
        try:
            yield
        except StoreUnavailable as error:  # of the whole bot: `/readyz` says so
            log.warning("%s: %s", lane, error)
        except Exception as error:
            why = safe_message(error).removesuffix(".")
            text = f"The next card for {lane} can't be read, so the cards behind it wait: {why}."
            self._health.report("delivery", subject, text)
        else:
            self._health.resolve("delivery", subject)

    def report_failure(self, job: Job, why: str) -> None:
        """Report why this card can't be shown."""
        what = "digest" if is_digest_id(job.review_id) else "review"
        why = why.removesuffix(".")
        text = f"The {what} {short_id(job.review_id)} can't be shown at {job.place}: {why}."
        self._health.report("delivery", _subjects(job)[0], text)

    def report_success(self, job: Job) -> None:
        """The card is shown, or was checked, so its problems are over."""
        for subject in _subjects(job):
            self._health.resolve("delivery", subject)


def _subjects(job: Job) -> Sequence[str]:
    """The subjects of the problems that this job ends; the first one is its own. A check has another one than
    the card: it also succeeds if the card is not there. A card ends both, because it does all that a check
    does.
    """
    card = delivery_subject(job.review_id, job.place)
    check = f"check of {card}"
    return [check] if job.kind in ("check", "sweep", "stray") else [card, check]


class TriedTooOften(Exception):
    """The text says what failed last. `seconds`: the job must wait for at least this long. `is_newer`: only a
    newer version knows its kind, so it is never given up: a dead letter would lose its note. `is_missing`: a
    part of the store that it needs is missing.
    """

    def __init__(
        self,
        text: str,
        seconds: float = 0.0,
        *,
        is_newer: bool = False,
        is_missing: bool = False,
    ) -> None:
        super().__init__(text)
        self.seconds, self.is_newer, self.is_missing = seconds, is_newer, is_missing


async def put_back(store: Store, job: Job) -> None:
    try:
        await store.put_back_job(job)
    except HitlError as error:
        log.warning("review %s: its job could not be put back: %s", job.review_id, error)


async def is_missing(store: Store, job: Job, error: Exception) -> bool:
    """Whether this error means that the job's partition is missing while others answer: then their jobs must
    not wait for it.
    """
    if not isinstance(error, StoreUnavailable):
        return False
    return job.partition in await store.missing_partitions()


def can_wait(error: Exception) -> bool:
    """Whether nothing is wrong with the card itself: any bot can show it as soon as an operator has repaired
    the store, or a newer bot can read it.
    """
    if isinstance(error, ReviewUnreadable | DigestUnreadable):
        return isinstance(error, ReviewTooNew)
    return isinstance(error, StoreError)


def check_version(job: Job) -> None:
    """Raises TriedTooOften for a job of a kind that only a newer version knows."""
    if job.kind == "newer":
        text = "a newer version queued this job. Update this program."
        raise TriedTooOften(text, is_newer=True)
