"""Submits per second, 50 at a time, beside the same scripts with the same bytes, sent raw.

What a submit sends is recorded once from the library itself. Where the turn has no name the library first
looks whether this is the next turn or one that was submitted before: that is the second figure.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from statistics import median
from typing import Any

from redis.asyncio import Redis

from benchmarks.amount import AT_ONCE, Amount
from benchmarks.figure import Figure
from benchmarks.payload import POLICY, call
from benchmarks.stage import stage
from hitl_core import Gate, Policy
from hitl_core.store import RedisStore

Script = tuple[str, Sequence[str], Sequence[Any]]


class Recorder:
    """Stands where the store's client stands, and keeps the scripts that it was told to run."""

    def __init__(self) -> None:
        self.scripts: list[Script] = []

    def register_script(self, text: str) -> Callable[..., Awaitable[int]]:
        async def run(keys: Sequence[str], args: Sequence[Any]) -> int:
            self.scripts.append((text, keys, args))
            return 1

        return run

    async def hsetnx(self, *_: str) -> bool:
        return True  # the policy's digest: noted once, not at each submit

    async def time(self) -> tuple[int, int]:
        return 1_800_000_000, 0


async def measure(amount: Amount) -> list[Figure]:
    found: dict[str, list[float]] = {"raw": [], "named": [], "unnamed": []}
    policy = Policy.from_mapping(POLICY)
    async with stage() as at, Gate.connect(at.redis_url, policy=policy, agent="bench") as gate:
        for number in range(amount.rounds + 1):
            threads = [f"{number}-{each}" for each in range(amount.burst)]
            recorded = await _recorded(threads)
            found["raw"].append(await _rate(_raw(at.redis), recorded))
            found["named"].append(
                await _rate(
                    lambda t: gate.submit([call()], thread_id=f"named-{t}", turn="1"), threads
                )
            )
            found["unnamed"].append(
                await _rate(lambda t: gate.submit([call()], thread_id=f"unnamed-{t}"), threads)
            )
    raw, named, unnamed = (median(rates[1:]) for rates in found.values())
    return [
        Figure("submits, of named turns", "/s", named, raw, None, "higher"),
        Figure("submits, of turns without a name", "/s", unnamed, raw, None, "higher"),
    ]


async def _recorded(threads: Sequence[str]) -> list[Script]:
    """The one script that each submit would run."""
    recorder = Recorder()
    store = RedisStore(recorder, recorder, partitions=1, retention=1.0)
    gate = Gate(store, policy=Policy.from_mapping(POLICY), agent="raw")
    for thread_id in threads:
        await gate.submit([call()], thread_id=thread_id, turn="1")
    return recorder.scripts


def _raw(redis: Redis) -> Callable[[Script], Awaitable[Any]]:
    def run(script: Script) -> Awaitable[Any]:
        text, keys, args = script
        return redis.register_script(text)(keys=keys, args=args)

    return run


async def _rate(do: Callable[[Any], Awaitable[Any]], each: Sequence[Any]) -> float:
    """Per second, AT_ONCE at a time."""
    waiting = iter(each)

    async def work() -> None:
        for one in waiting:
            await do(one)

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return len(each) / (time.perf_counter() - start)
