"""What reviews that wait take: in Redis beside their arguments, and in a bot that has posted them all."""

from __future__ import annotations

import asyncio

from benchmarks.amount import Amount
from benchmarks.figure import Figure
from benchmarks.payload import ARGUMENTS
from benchmarks.stage import Stage, stage


async def measure(amount: Amount) -> list[Figure]:
    async with stage() as at, at.hasty_bot() as bot:
        # What the first review costs is the price of having any: indexes, scripts, connections.
        await at.submit(1)
        await at.posted(1)
        await asyncio.sleep(amount.settle)
        idle, empty = bot.memory, await _used(at)
        await at.submit(amount.pending)
        await at.posted(amount.pending + 1)
        await asyncio.sleep(amount.settle)
        full, used = bot.memory, await _used(at)
    each = (used - empty) / amount.pending - ARGUMENTS
    posted = f"a bot with {amount.pending:,} pending, beside an idle one"
    # The arguments take 1 kB, so the ratio is in kB as well, and so is the aim.
    alone = "Redis, a pending review without its arguments"
    return [
        Figure(alone, "kB", each / 1000, ARGUMENTS / 1000, 3.0, "lower"),
        Figure(posted, "MB", full / 1e6, idle / 1e6, 1.2, "lower"),
    ]


async def _used(at: Stage) -> int:
    return int((await at.redis.info("memory"))["used_memory"])
