"""What agents, workers and operators do: a submit, a round of due timers, and `hitl` commands."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, redirect_stderr, redirect_stdout
from statistics import median

from benchmarks.measures.growth.recording import AGENT, POLICY
from benchmarks.measures.growth.side import Costs, Operation, Side, time_each
from benchmarks.measures.timers import DueRounds
from benchmarks.support.amount import Amount
from benchmarks.support.payload import tool_call
from hitl_core import Gate, Policy
from hitl_core.cli.main import main
from hitl_core.store import Keys


async def time_commands(sides: Sequence[Side], amount: Amount) -> list[Costs]:
    submits = await _time_submits(sides, amount.clicks)
    lists = await time_each(sides, _command("reviews", "list"), amount.rounds * 2)
    verified = [await _time_once(side, _command("audit", "verify")) for side in sides]
    entries = [await side.fixture.redis.xlen(Keys(0).audit) for side in sides]
    each_entry = [time * 1000 / count for time, count in zip(verified, entries, strict=True)]
    return [
        Costs("a submit", "ms", submits, 1.1),
        Costs("hitl reviews list", "ms", lists, 1.5),
        Costs("hitl audit verify, each entry", "µs", each_entry, 1.5),
        Costs("a round of 100 due timers", "ms", await _time_rounds(sides, amount.rounds), 1.5),
    ]


async def _time_submits(sides: Sequence[Side], count: int) -> list[float]:
    async with AsyncExitStack() as stack:
        policy = Policy.from_mapping(POLICY)
        gates = {
            side: await stack.enter_async_context(
                Gate.connect(side.fixture.redis_url, policy=policy, agent=AGENT)
            )
            for side in sides
        }

        async def submit(side: Side) -> None:
            await gates[side].submit([tool_call()], thread_id=side.next_thread(), turn="1")

        return await time_each(sides, submit, count)


def _command(*words: str) -> Operation:
    """Runs a `hitl` command in this process. The start of a process would take the same time
    for every size.
    """

    async def run(side: Side) -> None:
        arguments = [*words, "--redis", side.fixture.redis_url]
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
            status = await asyncio.to_thread(main, arguments)
        if status or not out.getvalue():
            raise RuntimeError(f"hitl {' '.join(words)}: {errors.getvalue()}")

    return run


async def _time_once(side: Side, operation: Operation) -> float:
    """The milliseconds of one run, for an operation that takes minutes."""
    start = time.perf_counter()
    await operation(side)
    return (time.perf_counter() - start) * 1000


async def _time_rounds(sides: Sequence[Side], count: int) -> list[float]:
    """The milliseconds of a round, without the submits of the reviews that are due."""
    rounds = [DueRounds(side.store) for side in sides]
    times: list[list[float]] = [[] for _ in sides]
    for number in range(count * 2 + 1):
        for own, each in zip(times, rounds, strict=True):
            seconds = await each.time_round()
            if number:
                own.append(seconds * 1000)
    return [median(own) for own in times]
