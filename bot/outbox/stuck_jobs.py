"""The jobs that one lane works on, and the reports about those without progress."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hitl_core.store import Job, LaneHalf

from ..health import Health

#: A job without progress for this time is reported, in seconds.
REPORT_AFTER = 60.0


@dataclass(frozen=True)
class _StuckJob:
    job: Job
    since: float
    why: str


class StuckJobs:
    """At most one job for each half of the lane."""

    def __init__(self, health: Health) -> None:
        self._health = health
        self._jobs: dict[LaneHalf, _StuckJob] = {}

    def note(self, half: LaneHalf, job: Job, since: float, why: str) -> None:
        """This job makes no progress. `since` is by `time.monotonic`."""
        self._jobs[half] = _StuckJob(job, since, why)

    def clear(self, half: LaneHalf) -> None:
        self._jobs.pop(half, None)

    def report(self) -> None:
        """Report the jobs without progress for REPORT_AFTER."""
        for stuck in self._jobs.values():
            if time.monotonic() - stuck.since >= REPORT_AFTER:
                self.report_failure(stuck.job, stuck.why)

    def report_failure(self, job: Job, why: str) -> None:
        """Report why this card can't be shown."""
        text = f"The review {job.review_id} can't be shown at {job.place}: {why}."
        self._health.report("delivery", _subject(job), text)

    def report_success(self, job: Job) -> None:
        """The card is shown, so its problem is over."""
        self._health.resolve("delivery", _subject(job))


def _subject(job: Job) -> str:
    return f"{job.review_id} at {job.place}"
