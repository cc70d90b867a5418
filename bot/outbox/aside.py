"""The jobs of one lane that are set aside because they failed too often."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

#: How long a job is set aside, in seconds: at first, and at most.
FIRST_ASIDE, MAX_ASIDE = 5.0, 60.0


@dataclass(frozen=True)
class _Pause:
    """Until when by `time.monotonic` a job is left alone, and for how many seconds in all."""

    until: float
    seconds: float


class AsideJobs:
    """Jobs by their member in the queue. It outlives its lane."""

    def __init__(self) -> None:
        self._pauses: dict[str, _Pause] = {}

    def __contains__(self, member: str) -> bool:
        return member in self._pauses

    def resting(self) -> list[str]:
        """The jobs that are left alone now. The others get one try at a time."""
        now = time.monotonic()
        return [member for member, pause in self._pauses.items() if pause.until > now]

    def add(self, member: str, least: float) -> None:
        """Set the job aside: longer each time, and at least for `least` seconds."""
        before = self._pauses.get(member)
        seconds = max(min(before.seconds * 2, MAX_ASIDE) if before else FIRST_ASIDE, least)
        self._pauses[member] = _Pause(time.monotonic() + seconds, seconds)

    def remove(self, member: str) -> None:
        self._pauses.pop(member, None)

    def retry_all(self) -> None:
        """Each job gets its next try now."""
        for member, pause in self._pauses.items():
            self._pauses[member] = replace(pause, until=0.0)

    def all_ended_before(self, moment: float) -> bool:
        """Whether every pause ended before this time, by `time.monotonic`."""
        return all(pause.until < moment for pause in self._pauses.values())
