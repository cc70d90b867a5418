"""This machine's clock, for leases."""

from __future__ import annotations

import time


def uptime() -> float:
    """Seconds since boot, with the time that the machine slept, if the system can tell. A lease goes on
    during sleep.
    """
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)
