"""How much is measured: enough to trust, or only enough to see that it works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Amount:
    """Clicks one at a time; rounds, and clicks or submits in each; fresh interpreters; pending reviews, and
    for how many seconds a process with them is left alone before its memory is read; for how many
    seconds each hostile request is sent.
    """

    clicks: int
    rounds: int
    burst: int
    imports: int
    pending: int
    settle: float
    hostile: float


FULL = Amount(clicks=400, rounds=6, burst=250, imports=15, pending=10_000, settle=2.0, hostile=2.0)
TINY = Amount(clicks=3, rounds=1, burst=4, imports=1, pending=5, settle=0.0, hostile=0.1)

#: How many clicks or submits are under way at a time.
AT_ONCE = 50
