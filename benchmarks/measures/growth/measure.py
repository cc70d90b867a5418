"""Compares the cost of each operation with many stored reviews to its cost with the fewest."""

from __future__ import annotations

from contextlib import AsyncExitStack

from benchmarks.measures.growth.bots import time_bots
from benchmarks.measures.growth.commands import time_commands
from benchmarks.measures.growth.recording import record
from benchmarks.measures.growth.side import Costs, open_side
from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount


async def measure(amount: Amount) -> list[Figure]:
    recordings = [await record("pending", 99_999_998), await record("done", 99_999_999)]
    async with AsyncExitStack() as stack:
        sides = [
            await stack.enter_async_context(open_side(size, recordings)) for size in amount.sizes
        ]
        costs = [
            *await time_bots(sides, amount),
            *await time_commands(sides, amount),
            Costs("Redis, one stored review", "kB", [one.bytes_each / 1000 for one in sides], 1.5),
        ]
    return [
        Figure(f"{each.name}, {size:,} stored", each.unit, value, each.values[0], each.aim, "lower")
        for each in costs
        for size, value in list(zip(amount.sizes, each.values, strict=True))[1:]
    ]
