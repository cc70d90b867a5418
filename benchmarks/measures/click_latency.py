"""A click → the agent is resumed in another process, one at a time.

The floor is an empty app (of Bolt or of Microsoft's SDK) that runs one script, and a process that reads the
stream which the script writes to. Both get the same requests, alternating. The clock starts when the first
byte is sent and stops inside the agent's process when its coroutine has its outcome; all processes share one
clock.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import quantiles

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from benchmarks.support.chat import Chat
from benchmarks.support.fixture import Fixture, open_fixture
from benchmarks.support.http_client import Connection, open_connection
from benchmarks.support.process import Process, running
from benchmarks.support.slack import SLACK

#: The pause between two clicks, in seconds, so that work that follows one click doesn't slow down the next.
PAUSE = 0.01
WARMUP_CLICKS = 10


async def measure(amount: Amount, chat: Chat = SLACK) -> list[Figure]:
    times: dict[str, list[float]] = {"ours": [], "floor": []}
    count = amount.clicks + WARMUP_CLICKS
    async with open_fixture(chat) as fixture, AsyncExitStack() as stack:
        agent = await stack.enter_async_context(
            running("benchmarks.programs.agent", str(count), environment=fixture.environment)
        )
        await agent.line()
        async with fixture.unpaced_bot():
            messages = await fixture.wait_posted(count)
        sides = {
            "ours": (await stack.enter_async_context(_bot(fixture)), agent),
            "floor": await stack.enter_async_context(_floor(fixture)),
        }
        for number, click in enumerate(chat.make_clicks(messages)):
            for side in sorted(sides, reverse=number % 2 == 0):
                # The two sides take turns to be first.
                seconds = await _resume_time(*sides[side], click.request, click.review_id)
                if number >= WARMUP_CLICKS:
                    times[side].append(seconds * 1000)
                await asyncio.sleep(PAUSE)
    ours, floor = (quantiles(times[side], n=100, method="inclusive") for side in ("ours", "floor"))
    name = f"{chat.label}click to agent resumed"
    return [
        Figure(f"{name}, p{p}", "ms", ours[p - 1], floor[p - 1], aim, "lower")
        for p, aim in ((50, 2.0), (99, 2.5))
    ]


async def _resume_time(
    connection: Connection, agent: Process, request: bytes, review_id: str
) -> float:
    """In seconds, from the click to the resumed agent."""
    start = time.monotonic_ns()
    _, line = await asyncio.gather(connection.send(request), agent.line())
    printed_id, at = line.split()
    if printed_id != review_id:
        raise RuntimeError(f"{printed_id} was resumed by a click on {review_id}.")
    return (int(at) - start) / 1e9


@asynccontextmanager
async def _bot(fixture: Fixture) -> AsyncGenerator[Connection, None]:
    """`python -m bot serve`, exactly as an operator runs it."""
    async with (
        running("bot", "serve", environment=fixture.environment) as bot,
        open_connection(await bot.address()) as connection,
    ):
        yield connection


@asynccontextmanager
async def _floor(fixture: Fixture) -> AsyncGenerator[tuple[Connection, Process], None]:
    async with (
        running("benchmarks.programs.stream_reader", environment=fixture.environment) as reader,
        running(fixture.chat.empty_app, "--store", environment=fixture.environment) as app,
    ):
        await reader.line()
        async with open_connection(await app.address()) as connection:
            yield connection, reader
