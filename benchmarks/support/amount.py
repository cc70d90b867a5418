"""How much is measured: enough for reliable figures, or only enough to check that a measurement works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Amount:
    """Counts: single clicks; rounds, and clicks or submits per round; fresh interpreters; pending reviews.
    Seconds: how long a process with these reviews rests before its memory is read, and how long each
    hostile request is sent. `sizes`: numbers of stored reviews; the first is the floor of the others.
    """

    clicks: int
    rounds: int
    burst: int
    imports: int
    pending: int
    settle: float
    hostile: float
    sizes: tuple[int, ...]


FULL = Amount(
    clicks=400, rounds=6, burst=250, imports=15, pending=10_000, settle=2.0, hostile=2.0,
    sizes=(1_000, 100_000),
)  # fmt: skip
TINY = Amount(
    clicks=3, rounds=1, burst=4, imports=1, pending=5, settle=0.0, hostile=0.1, sizes=(20, 40)
)

#: How many clicks or submits run at the same time.
AT_ONCE = 50
