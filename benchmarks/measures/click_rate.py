"""Clicks per second, 50 at a time: one bot compared with an empty app, and two bots compared with one.

No agent runs meanwhile, because an empty app has none either. The two bots run `--only http`, the role that
answers clicks: two complete bots would also share the work on the cards. The rate of two empty apps shows
how much CPU the machine has left for a second process.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from statistics import median

from benchmarks.report.figure import Figure
from benchmarks.support.amount import AT_ONCE, Amount
from benchmarks.support.chat import Chat
from benchmarks.support.fixture import Fixture, open_fixture
from benchmarks.support.http_client import measure_rate
from benchmarks.support.process import running
from benchmarks.support.slack import SLACK

Program = tuple[str, ...]

BOT = ("bot", "serve")
HTTP = (*BOT, "--only", "http")


async def measure(amount: Amount) -> list[Figure]:
    empty = (SLACK.empty_app,)
    one = await measure_one_bot(amount, SLACK)
    two = await _measure_interleaved(
        amount, SLACK, {"empty": [empty], "empties": [empty] * 2, "one": [HTTP], "two": [HTTP] * 2}
    )
    return [
        one,
        Figure("clicks, two bots vs. one", "/s", two["two"], two["one"], 1.6, "higher"),
        Figure("(two empty Bolt apps vs. one)", "/s", two["empties"], two["empty"], None, "higher"),
    ]


async def measure_one_bot(amount: Amount, chat: Chat) -> Figure:
    one = await _measure_interleaved(amount, chat, {"empty": [(chat.empty_app,)], "bot": [BOT]})
    return Figure(f"{chat.label}clicks, one bot", "/s", one["bot"], one["empty"], 0.5, "higher")


async def _measure_interleaved(
    amount: Amount, chat: Chat, sides: dict[str, list[Program]]
) -> dict[str, float]:
    """Clicks per second of each side: the median of alternating rounds, after a warm-up round."""
    empty = (chat.empty_app,)
    of_bots = sum(empty not in programs for programs in sides.values())
    rates_by_side: dict[str, list[float]] = {side: [] for side in sides}
    async with open_fixture(chat) as fixture, AsyncExitStack() as stack:
        waiting = await fixture.create_pending((amount.rounds + 1) * of_bots * amount.burst)
        urls = {
            side: [await _start(program, fixture, stack) for program in programs]
            for side, programs in sides.items()
        }
        for _ in range(amount.rounds + 1):
            for side, programs in sides.items():
                burst = chat.make_clicks(waiting[: amount.burst])
                requests = [click.request for click in burst]
                rates_by_side[side].append(await measure_rate(requests, urls[side], AT_ONCE))
                if empty not in programs:  # it does not change the reviews: the next side gets them
                    await fixture.check_settled([click.review_id for click in burst])
                    del waiting[: amount.burst]
    return {side: median(rates[1:]) for side, rates in rates_by_side.items()}


async def _start(program: Program, fixture: Fixture, stack: AsyncExitStack) -> str:
    """Starts the program; returns the address that it listens on."""
    process = await stack.enter_async_context(running(*program, environment=fixture.environment))
    return await process.address()
