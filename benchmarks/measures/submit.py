"""Submits per second, 50 at a time, compared with the same scripts and bytes, sent directly.

The scripts of a submit are recorded once from the library itself. For a turn without a name, the library
first checks whether it is a new turn or one that was submitted before: that is the second figure.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

from redis.asyncio import Redis

from benchmarks.report.figure import Figure
from benchmarks.support.amount import AT_ONCE, Amount
from benchmarks.support.fixture import open_fixture
from benchmarks.support.payload import POLICY, tool_call
from hitl_core import Gate, Policy
from hitl_core.store import RedisStore
from hitl_core.store.redis.scripts import read_script

Script = tuple[str, Sequence[str], Sequence[Any]]
CHECK_HISTORY, THREAD_STATE = read_script("check_history"), read_script("thread_state")


class Recorder:
    """Replaces the store's client and records its script calls instead of running them. What a submit reads
    before is read from `redis`.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis, self.scripts = redis, list[Script]()

    def register_script(self, text: str) -> Callable[..., Awaitable[Any]]:
        async def run(keys: Sequence[str], args: Sequence[Any]) -> Any:
            if text == CHECK_HISTORY:  # once at the start, not at each submit
                return await run_script(self._redis, (text, keys, args))
            if text == THREAD_STATE:  # a new thread, in which no call was rejected
                return [b"1800000000 0 0 0"]
            self.scripts.append((text, keys, args))
            return b"stored "

        return run

    async def hsetnx(self, *_: str) -> bool:
        return True  # the policy's hash is stored once, not at each submit


async def measure(amount: Amount) -> list[Figure]:
    rates_by_kind: dict[str, list[float]] = {"raw": [], "named": [], "unnamed": []}
    policy = Policy.from_mapping(POLICY)
    async with (
        open_fixture() as fixture,
        Gate.connect(fixture.redis_url, policy=policy, agent="bench") as gate,
    ):
        for number in range(amount.rounds + 1):
            threads = [f"{number}-{each}" for each in range(amount.burst)]
            scripts = await record_scripts(fixture.redis, threads)
            rates_by_kind["raw"].append(await _rate(partial(run_script, fixture.redis), scripts))
            rates_by_kind["named"].append(
                await _rate(
                    lambda t: gate.submit([tool_call()], thread_id=f"named-{t}", turn="1"), threads
                )
            )
            rates_by_kind["unnamed"].append(
                await _rate(lambda t: gate.submit([tool_call()], thread_id=f"unnamed-{t}"), threads)
            )
    raw, named, unnamed = (median(rates[1:]) for rates in rates_by_kind.values())
    return [
        Figure("submits, of named turns", "/s", named, raw, 0.5, "higher"),
        Figure("submits, of turns without a name", "/s", unnamed, raw, 0.35, "higher"),
    ]


async def record_scripts(redis: Redis, threads: Sequence[str]) -> list[Script]:
    """The script that writes the review of each of these threads, in their order."""
    recorder = Recorder(redis)
    store = RedisStore(recorder, recorder, partitions=1, retention=1.0)
    gate = Gate(store, policy=Policy.from_mapping(POLICY), agent="raw")
    for thread_id in threads:
        await gate.submit([tool_call()], thread_id=thread_id, turn="1")
    return recorder.scripts


async def run_script(redis: Redis, script: Script) -> Any:
    text, keys, args = script
    return await redis.register_script(text)(keys=list(keys), args=list(args))


async def _rate(do: Callable[[Any], Awaitable[Any]], each: Sequence[Any]) -> float:
    """Per second, AT_ONCE at a time."""
    waiting = iter(each)

    async def work() -> None:
        for one in waiting:
            await do(one)

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return len(each) / (time.perf_counter() - start)
