"""How hostile requests affect a person who clicks meanwhile: how long the event loop is blocked, what stays
in memory, and which connections stay open.

The floor is the longest block while people only click, in the same run. All times are CPU time of the bot.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from urllib.parse import urlsplit

from benchmarks.measures.http_submit import create_token
from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from benchmarks.support.chat import Click
from benchmarks.support.fixture import open_fixture
from benchmarks.support.hostile_requests import HostileRequest, make_requests
from benchmarks.support.http_client import open_connection
from benchmarks.support.process import Process, running
from benchmarks.support.slack import make_clicks

#: How many clients send the same request at the same time, while one person clicks, one click at a time.
SENDERS = 3
#: The longest time that anything may block the event loop, in milliseconds.
MAX_BLOCK = 50.0
#: This many requests are left unfinished, and checked after this many seconds.
UNFINISHED_REQUESTS, SILENCE_SECONDS = 300, 10.0
#: How long a client waits for an answer, in seconds.
ANSWER_TIMEOUT = 30.0
#: How many different cards there are to click on. A second click on a card only says that it was decided.
CARDS = 50


async def measure(amount: Amount) -> list[Figure]:
    async with open_fixture() as fixture:
        hostile = make_requests(await create_token(fixture))
        cards = cycle(make_clicks(await fixture.create_pending(min(CARDS, amount.pending))))
        monitored = running("benchmarks.programs.monitored_bot", environment=fixture.environment)
        async with monitored as bot:
            side = _Load(bot, await bot.address(), cards, amount)
            await side.longest_block(None)
            quiet, before = await side.longest_block(None), bot.memory
            blocks = {kind.name: await side.longest_block(kind) for kind in hostile}
            open_count = await side.count_open([kind for kind in hostile if not kind.is_complete])
            after = bot.memory
    worst = max(blocks, key=lambda name: blocks[name])
    allowed = f"longest block, vs. the limit ({worst})"
    return [
        *(
            Figure(f"block, {name}", "ms", block, quiet, None, "lower")
            for name, block in blocks.items()
        ),
        Figure(allowed, "ms", blocks[worst], MAX_BLOCK, 1.0, "lower"),
        Figure("memory after all of it, vs. before", "MB", after / 1e6, before / 1e6, 1.5, "lower"),
        Figure(
            "unfinished requests open after 10 s, of all",
            "",
            open_count,
            UNFINISHED_REQUESTS,
            0.0,
            "lower",
        ),
    ]


class _Load:
    """A bot, a person who clicks, and clients that send hostile requests."""

    def __init__(self, bot: Process, url: str, cards: Iterator[Click], amount: Amount) -> None:
        self._bot, self._url, self._cards, self._amount = bot, url, cards, amount

    async def longest_block(self, kind: HostileRequest | None) -> float:
        """The longest block, in milliseconds, while this is sent; None: while people only click."""
        await self._read_longest()
        end = time.monotonic() + self._amount.hostile
        senders = [self._send(kind, end) for _ in range(SENDERS)] if kind else []
        await asyncio.gather(self._click(end), *senders)
        return await self._read_longest() * 1000

    async def count_open(self, unfinished: list[HostileRequest]) -> int:
        """How many of UNFINISHED_REQUESTS are still open after SILENCE_SECONDS."""
        count = UNFINISHED_REQUESTS if self._amount.hostile >= 1 else 3
        wires = [await self._open_request(unfinished[n % len(unfinished)]) for n in range(count)]
        await asyncio.sleep(SILENCE_SECONDS)
        ended = await asyncio.gather(*(_has_ended(reader) for reader, _ in wires))
        for _, writer in wires:
            writer.close()
        return count - sum(ended)

    async def _read_longest(self) -> float:
        self._bot.signal(signal.SIGUSR1)
        return float(await self._bot.line())

    async def _click(self, end: float) -> None:
        async with open_connection(self._url) as connection:
            while time.monotonic() < end:
                async with asyncio.timeout(ANSWER_TIMEOUT):
                    await connection.send(next(self._cards).request)
                await asyncio.sleep(0.02)

    async def _send(self, kind: HostileRequest, end: float) -> None:
        while time.monotonic() < end:
            reader, writer = await self._open_request(kind)
            with suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(
                    ANSWER_TIMEOUT if kind.is_complete else self._amount.hostile / 4
                ):
                    if kind.is_slow:
                        await _drip(writer)
                    while kind.is_complete and await reader.read(65536):
                        pass
                    await asyncio.sleep(0 if kind.is_complete else ANSWER_TIMEOUT)
            writer.close()

    async def _open_request(
        self, kind: HostileRequest
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        where = urlsplit(self._url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        writer.write(kind.payload.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nConnection: close\r\n", 1))
        return reader, writer


async def _drip(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"a")
        await asyncio.sleep(0.01)


async def _has_ended(reader: asyncio.StreamReader) -> bool:
    with suppress(ConnectionError):
        try:
            async with asyncio.timeout(0.2):
                while await reader.read(65536):
                    pass
        except TimeoutError:
            return False
    return True
