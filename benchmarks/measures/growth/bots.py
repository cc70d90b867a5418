"""What a bot does for people: its start, a click and its answer, `/approvals`, App Home, `/metrics`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

from benchmarks.measures.growth.side import Costs, Side, time_each
from benchmarks.support.amount import Amount
from benchmarks.support.http_client import Connection, open_connection
from benchmarks.support.process import running
from benchmarks.support.slack import make_clicks, make_command, open_home

_METRICS = b"GET /metrics HTTP/1.1\r\nHost: bench\r\n\r\n"


class Bot(NamedTuple):
    url: str
    connection: Connection


async def time_bots(sides: Sequence[Side], amount: Amount) -> list[Costs]:
    starts = await time_each(sides, _start, amount.rounds)
    async with AsyncExitStack() as stack:
        messages = {side: await side.fixture.create_pending(amount.clicks + 1) for side in sides}
        bots = {side: await stack.enter_async_context(_running_bot(side)) for side in sides}
        clicks = await _time_clicks(bots, messages, amount.clicks)
        lists = [
            Costs(name, "ms", await time_each(sides, operation, amount.rounds * 10), 1.5)
            for name, operation in (
                ("/approvals", lambda side: _list_waiting(bots[side].connection)),
                ("App Home", lambda side: _open_home(bots[side].connection)),
                ("/metrics", lambda side: _read_metrics(bots[side].url)),
            )
        ]
    for side in sides:
        if "approve" not in await side.fixture.last_home():
            raise RuntimeError("The Home shows no review that waits.")
    return [
        Costs("a click to its answer", "ms", clicks, 1.1),
        *lists,
        Costs("a bot's start", "ms", starts, 1.5),
    ]


async def _start(side: Side) -> None:
    async with _running_bot(side):
        pass


async def _time_clicks(
    bots: Mapping[Side, Bot], messages: Mapping[Side, list[dict[str, Any]]], count: int
) -> list[float]:
    """Each click is on another card."""
    clicks = {side: make_clicks(messages[side]) for side in bots}
    waiting = {side: iter(clicks[side]) for side in bots}

    async def click(side: Side) -> None:
        await bots[side].connection.send(next(waiting[side]).request)

    times = await time_each(list(bots), click, count)
    for side, made in clicks.items():
        await side.fixture.check_settled([each.review_id for each in made])
    return times


async def _list_waiting(bot: Connection) -> None:
    answer = await bot.send(make_command())
    if b"approve" not in answer:
        raise RuntimeError(f"/approvals shows no review that waits: {answer[:300]!r}")


async def _open_home(bot: Connection) -> None:
    await bot.send(open_home())


async def _read_metrics(url: str) -> None:
    """Opens a new connection each time, because the bot closes the connection of a probe after its answer."""
    async with open_connection(url) as connection:
        if b"hitl_" not in await connection.send(_METRICS):
            raise RuntimeError("/metrics has no metric.")


@asynccontextmanager
async def _running_bot(side: Side) -> AsyncGenerator[Bot, None]:
    """`python -m bot serve`, exactly as an operator runs it."""
    async with running("bot", "serve", environment=side.fixture.environment) as bot:
        url = await bot.address()
        async with open_connection(url) as connection:
            yield Bot(url, connection)
