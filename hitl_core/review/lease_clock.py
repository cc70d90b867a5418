"""The clock by which a process knows that its lease has ended. The machine's own; `now` is the store's."""

from __future__ import annotations

import time


def seconds_since_boot() -> float:
    """With the time that the machine slept, if the system can tell: a lease also ends during sleep."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)
