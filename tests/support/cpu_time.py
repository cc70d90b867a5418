"""A limit for CPU time that adapts to the machine: it is compared with the time of a known piece of work."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: CPU seconds that `_known_work` takes on the machine for which the limits were written.
USUAL = 0.006


def _known_work() -> float:
    """The CPU seconds of a fixed piece of plain Python."""
    start = time.thread_time()
    table: dict[str, list[int]] = {}
    for number in range(40_000):
        table.setdefault(str(number % 997), []).append(number)
    assert sum(map(len, table.values())) == 40_000
    return time.thread_time() - start


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Fails if the block takes more CPU time than `seconds` on a usual machine; a slower or busier machine
    gets proportionally more. The known work is measured only if the block took longer than `seconds`, so most
    tests don't wait for it.
    """
    gc.disable()  # collecting the objects of other tests is not this block's work
    start = time.thread_time()
    try:
        yield
    finally:
        gc.enable()
    taken = time.thread_time() - start
    if taken < seconds:
        return
    factor = max(1.0, *(_known_work() / USUAL for _ in range(3)))
    assert taken < seconds * factor, f"{taken:.2f} s, and at most {seconds * factor:.2f} s"
