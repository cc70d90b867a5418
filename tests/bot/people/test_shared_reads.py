"""Requests that wait for the same value share one read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.shared_reads import SharedReads


class Source:
    """A value that is read slowly: each read waits for `gate`, and returns the value that it began with."""

    def __init__(self) -> None:
        self.value, self.reads = 0, 0
        self.gate = asyncio.Event()

    async def read(self) -> int:
        self.reads += 1
        value = self.value
        await self.gate.wait()
        return value


async def settle() -> None:
    """Until every task waits for something outside."""
    for _ in range(10):
        await asyncio.sleep(0)


async def ask(reads: SharedReads, read: Callable[[], Awaitable[int]], times: int = 1):
    asked = [asyncio.create_task(reads.read("key", read)) for _ in range(times)]
    await settle()
    return asked


async def test_a_thousand_who_ask_for_the_same_share_one_read():
    """Given a thousand who ask at once, then the source is read once; those who ask for something else get a
    read of their own."""
    reads, source = SharedReads(), Source()
    source.gate.set()

    asked = [reads.read("key", source.read) for _ in range(1000)]

    assert await asyncio.gather(*asked, reads.read("other", source.read)) == [0] * 1001
    assert source.reads == 2


async def test_nobody_gets_a_result_that_is_older_than_the_question():
    """Given a read that runs, when the value changes and others ask, then they wait for one more read, and
    get the new value."""
    reads, source = SharedReads(), Source()
    early = await ask(reads, source.read)
    source.value = 1
    late = await ask(reads, source.read, 3)

    source.gate.set()

    assert await asyncio.gather(*early, *late) == [0, 1, 1, 1]
    assert source.reads == 2


async def test_one_who_leaves_takes_nothing_from_the_others():
    """Given two who wait for one read, when the first is cancelled, then the second gets the result."""
    reads, source = SharedReads(), Source()
    first, second = await ask(reads, source.read, 2)
    first.cancel()
    source.gate.set()

    assert await second == 0
    assert source.reads == 1


async def test_an_error_reaches_all_and_the_next_read_starts_again():
    reads = SharedReads()

    async def fail() -> int:
        raise ValueError("no")

    results = await asyncio.gather(
        *(reads.read("key", fail) for _ in range(2)), return_exceptions=True
    )
    assert [str(result) for result in results] == ["no", "no"]
    with pytest.raises(ValueError, match="no"):
        await reads.read("key", fail)
