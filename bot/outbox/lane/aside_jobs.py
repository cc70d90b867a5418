"""The jobs of a lane that are set aside, because they failed too often."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

#: How long a job is set aside, in seconds: the first time, and at most.
FIRST_ASIDE, MAX_ASIDE = 5.0, 60.0


#: A job that failed this often, while other jobs of its lane succeeded, becomes a dead letter.
MAX_FAILURES = 5


@dataclass(frozen=True)
class _Pause:
    """How long a job is set aside: until this time by `time.monotonic`, and for how many seconds in all.
    `failures`: how often it failed since, each time after another job succeeded. `is_new`: no job has
    succeeded since its last failure. `stays`: no success of another job ends it.
    """

    until: float
    seconds: float
    failures: int
    is_new: bool = True
    stays: bool = False


class AsideJobs:
    """The jobs that are set aside because they failed too often, by their member in the queue. This object
    lives longer than its lane.
    """

    def __init__(self) -> None:
        self._pauses: dict[str, _Pause] = {}
        #: Whether another job of the lane has succeeded since a job was first set aside.
        self.lane_works = False

    def __contains__(self, member: str) -> bool:
        return member in self._pauses

    def paused_jobs(self) -> list[str]:
        """The jobs that are not tried now. The others get one try at a time."""
        now = time.monotonic()
        return [member for member, pause in self._pauses.items() if pause.until > now]

    def add(self, member: str, least: float, *, stays: bool = False) -> bool:
        """Set the job aside, each time for longer, and at least for `least` seconds. Returns whether it
        failed MAX_FAILURES times while the lane worked. The next failure of such a job counts at once.
        `stays`: what it needs is missing, so that a success of another job says nothing about it.
        """
        before = self._pauses.get(member)
        seconds = max(min(before.seconds * 2, MAX_ASIDE) if before else FIRST_ASIDE, least)
        failures = before.failures if before else 0
        if not least:  # otherwise the channel only limits our rate
            self.lane_works = self.lane_works and before is not None
            failures += before is None or not before.is_new
        self._pauses[member] = _Pause(time.monotonic() + seconds, seconds, failures, stays=stays)
        return failures >= MAX_FAILURES and not least

    def remove(self, member: str) -> None:
        self._pauses.pop(member, None)

    def retry_all(self) -> None:
        """A job succeeded, so each job gets its next try now, except those whose pause `stays`."""
        self.lane_works = True
        for member, pause in self._pauses.items():
            until = pause.until if pause.stays else 0.0
            self._pauses[member] = replace(pause, until=until, is_new=False)

    def all_ended_before(self, moment: float) -> bool:
        """Whether every pause ended before this time (by `time.monotonic`)."""
        return all(pause.until < moment for pause in self._pauses.values())
