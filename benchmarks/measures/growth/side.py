"""One of the compared sizes: a separate Redis with this many stored reviews."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from statistics import median
from typing import NamedTuple

from benchmarks.measures.growth.copies import store_copies
from benchmarks.measures.growth.recording import Recording
from benchmarks.support.fixture import EVERYSEC, Fixture, open_fixture
from hitl_core.audit import seal
from hitl_core.review import Reviews
from hitl_core.store import RedisStore

#: The append-only file is switched on after all copies are stored, and is not rewritten during a measurement.
_SETTINGS = {**EVERYSEC, "appendonly": "no", "auto-aof-rewrite-percentage": "0"}


class Side:
    """`bytes_each`: what one stored review takes in Redis, on average."""

    def __init__(self, size: int, fixture: Fixture, store: RedisStore, bytes_each: float) -> None:
        self.size, self.fixture, self.store, self.bytes_each = size, fixture, store, bytes_each
        self.reviews = Reviews(store)
        self._number = 0

    def next_thread(self) -> str:
        """A thread without reviews."""
        self._number += 1
        return f"new-{self._number}"


@asynccontextmanager
async def open_side(size: int, recordings: Sequence[Recording]) -> AsyncGenerator[Side, None]:
    async with open_fixture(settings=_SETTINGS) as fixture:
        before = await _memory(fixture)
        await asyncio.to_thread(store_copies, fixture.redis_url, recordings, size)
        if await fixture.redis.dbsize() < 2 * size:
            raise RuntimeError(f"Redis did not store {size:,} reviews.")
        bytes_each = (await _memory(fixture) - before) / size
        store = await RedisStore.open(fixture.redis_url)
        try:
            await seal(store)  # the last ones
            await _start_file(fixture)
            yield Side(size, fixture, store, bytes_each)
        finally:
            await store.close()


async def _memory(fixture: Fixture) -> int:
    return int((await fixture.redis.info("memory"))["used_memory"])


async def _start_file(fixture: Fixture) -> None:
    """Switches the append-only file on, and waits until it contains everything."""
    await fixture.redis.config_set("appendonly", "yes")
    while True:
        state = await fixture.redis.info("persistence")
        if not state["aof_rewrite_in_progress"] and not state["aof_rewrite_scheduled"]:
            return
        await asyncio.sleep(0.1)


class Costs(NamedTuple):
    """What one operation costs on each side. `aim`: how much more with many reviews than with few."""

    name: str
    unit: str
    values: Sequence[float]
    aim: float


Operation = Callable[[Side], Awaitable[None]]


async def time_each(sides: Sequence[Side], operation: Operation, count: int) -> list[float]:
    """The median time of this operation on each side, in milliseconds. The sides alternate, and each is
    first equally often, so that a disturbance on the machine affects all of them. The first time is not
    counted.
    """
    times: list[list[float]] = [[] for _ in sides]
    for number in range(count + 1):
        for index in _rotate(len(sides), number):
            start = time.perf_counter()
            await operation(sides[index])
            if number:
                times[index].append((time.perf_counter() - start) * 1000)
    return [median(each) for each in times]


def _rotate(count: int, start: int) -> Iterator[int]:
    return ((start + index) % count for index in range(count))
