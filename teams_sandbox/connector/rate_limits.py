"""Teams' limits per bot and conversation, and per app and tenant.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit ("the values may change")
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Literal

#: The kind of a call, for the limits.
Scenario = Literal["send", "create", "members", "all"]
# Seconds, and how many calls in them.
_WRITES = ((1, 7), (2, 8), (30, 60), (3600, 1800))
_READS = ((1, 14), (2, 16), (30, 120), (3600, 3600))
LIMITS: dict[Scenario, tuple[tuple[int, int], ...]] = {
    "send": _WRITES,
    "create": _WRITES,
    "members": _READS,
    "all": ((1, 50),),  # of one app in one tenant
}


class RateLimits:
    """Sliding windows. `now` is in seconds; with a `scale` of 20 a minute takes 3 s, also in the answers."""

    def __init__(self, now: Callable[[], float], scale: float = 1.0) -> None:
        self._now = lambda: now() * scale
        self._scale = scale
        self._calls: defaultdict[tuple[Scenario, str], deque[float]] = defaultdict(deque)

    def retry_after(self, scenario: Scenario, conversation: str) -> float | None:
        """None if the call may run, else the seconds to wait: a whole number, unless scaled."""
        now = self._now()
        keys: list[tuple[Scenario, str]] = [(scenario, conversation), ("all", "")]
        waits = [self._wait(key, now) for key in keys]
        if max(waits) > 0:
            whole = max(1, math.ceil(max(waits)))
            return whole if self._scale == 1 else whole / self._scale
        for key in keys:
            self._calls[key].append(now)
        return None

    def _wait(self, key: tuple[Scenario, str], now: float) -> float:
        calls, windows = self._calls[key], LIMITS[key[0]]
        while calls and calls[0] <= now - windows[-1][0]:
            calls.popleft()
        # A call fits into a window again when the `most`th latest call is older than the window.
        waits = [calls[-most] + seconds - now for seconds, most in windows if len(calls) >= most]
        return max(waits, default=0.0)
