"""Results of look-ups are cached for a while, and the same look-up runs only once at a time."""

from __future__ import annotations

import asyncio

import pytest

from bot.people.lookups import Cache


class Source:
    """Counts its calls; the answer is the count. It waits for `gate`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.fails = False

    async def __call__(self, key: str) -> int:
        self.asked.append(key)
        count = len(self.asked)
        await self.gate.wait()
        if self.fails:
            raise ConnectionError(key)
        return count


async def test_a_value_is_cached_for_its_age() -> None:
    source = Source()
    lookups = Cache(source)
    assert [await lookups.get("a", 60) for _ in range(3)] == [1, 1, 1]
    assert await lookups.get("a", 0) == 2
    assert await lookups.get("b", 60) == 3


async def test_a_value_is_as_old_as_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an answer that took 50 s; then it is believed for 10 s more, and not for 60."""
    clock = 0.0
    monkeypatch.setattr("bot.people.lookups.time.monotonic", lambda: clock)
    source = Source()
    source.gate.clear()
    lookups = Cache(source)
    first = asyncio.create_task(lookups.get("a", 60))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    clock = 50.0
    source.gate.set()
    assert await first == 1
    clock = 59.0
    assert await lookups.get("a", 60) == 1
    clock = 61.0
    assert await lookups.get("a", 60) == 2


async def test_many_ask_once_and_a_failure_reaches_all_of_them() -> None:
    source = Source()
    source.fails = True
    lookups = Cache(source)
    answers = await asyncio.gather(
        *(lookups.get("a", 60) for _ in range(9)), return_exceptions=True
    )
    assert source.asked == ["a"]
    assert all(isinstance(answer, ConnectionError) for answer in answers)
    source.fails = False
    assert await lookups.get("a", 60) == 2  # a failure is not kept


async def test_a_cancelled_caller_does_not_cancel_the_look_up() -> None:
    source = Source()
    source.gate.clear()
    lookups = Cache(source)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(lookups.get("a", 60), 0.01)
    source.gate.set()
    assert await lookups.get("a", 60) == 1
    assert source.asked == ["a"]


async def test_a_key_dropped_during_its_look_up_is_not_cached() -> None:
    """Given a look-up under way; when its key is dropped; then the waiting caller gets the answer, and the
    next one asks again."""
    source = Source()
    source.gate.clear()
    lookups = Cache(source)
    waiting = asyncio.create_task(lookups.get("a", 60))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    lookups.forget("a")
    source.gate.set()
    assert await waiting == 1
    assert await lookups.get("a", 60) == 2
