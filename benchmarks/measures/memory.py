"""The memory of waiting reviews: in Redis, compared with their arguments, and in a bot that posted them."""

from __future__ import annotations

import asyncio

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from benchmarks.support.fixture import Fixture, open_fixture
from benchmarks.support.payload import ARGUMENTS


async def measure(amount: Amount) -> list[Figure]:
    async with open_fixture() as fixture, fixture.unpaced_bot() as bot:
        # Not counted: the first review, which also creates indexes, scripts and connections.
        await fixture.submit(1)
        await fixture.wait_posted(1)
        await asyncio.sleep(amount.settle)
        idle, empty = bot.memory, await _redis_memory(fixture)
        await fixture.submit(amount.pending)
        await fixture.wait_posted(amount.pending + 1)
        await asyncio.sleep(amount.settle)
        full, used = bot.memory, await _redis_memory(fixture)
    each = (used - empty) / amount.pending - ARGUMENTS
    posted = f"a bot with {amount.pending:,} pending, vs. an idle one"
    # The arguments take 1 kB, so the ratio and the aim are in kB too.
    redis_figure = "Redis, a pending review without its arguments"
    return [
        Figure(redis_figure, "kB", each / 1000, ARGUMENTS / 1000, 2.0, "lower"),
        Figure(posted, "MB", full / 1e6, idle / 1e6, 1.2, "lower"),
    ]


async def _redis_memory(fixture: Fixture) -> int:
    return int((await fixture.redis.info("memory"))["used_memory"])
