"""What hostile requests do to a person who clicks meanwhile: how long the event loop is held, what stays in
memory, and which connections stay open.

The floor of a hold is that of the clicks alone, in the same run. All holds are CPU time of the bot.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from urllib.parse import urlsplit

from benchmarks.amount import Amount
from benchmarks.door import token
from benchmarks.figure import Figure
from benchmarks.hostile import Kind, kinds
from benchmarks.payload import Click, clicks
from benchmarks.process import Process, running
from benchmarks.stage import stage
from benchmarks.wire import connected

#: How many send the same at the same time, and how many people click meanwhile, one click at a time.
HANDS, PEOPLE = 3, 1
#: The longest that anything may hold the event loop, in milliseconds.
HOLD = 50.0
#: So many connections are left half done, and looked at after so many seconds.
HALVES, SILENCE = 300, 10.0
#: A client waits for an answer so long, in seconds.
ANSWER = 30.0
#: How many different cards there are to click on. A second click on one says that it was decided.
CARDS = 50


async def measure(amount: Amount) -> list[Figure]:
    async with stage() as at:
        hostile = kinds(await token(at))
        cards = cycle(clicks(await at.pending(min(CARDS, amount.pending))))
        watched = running("benchmarks.programs.watched_bot", environment=at.environment)
        async with watched as bot:
            side = _Side(bot, await bot.word_after("listening on "), cards, amount)
            await side.hold(None)
            quiet, before = await side.hold(None), bot.memory
            held = {kind.name: await side.hold(kind) for kind in hostile}
            left = await side.still_open([kind for kind in hostile if not kind.whole])
            after = bot.memory
    worst = max(held, key=lambda name: held[name])
    allowed = f"longest hold, beside what is allowed ({worst})"
    return [
        *(Figure(f"hold, {name}", "ms", hold, quiet, None, "lower") for name, hold in held.items()),
        Figure(allowed, "ms", held[worst], HOLD, 1.0, "lower"),
        Figure(
            "memory after all of it, beside before", "MB", after / 1e6, before / 1e6, 1.5, "lower"
        ),
        Figure("half requests open after 10 s, of all", "", left, HALVES, 0.0, "lower"),
    ]


class _Side:
    """A bot, somebody who clicks, and others who do what `hold` is told."""

    def __init__(self, bot: Process, url: str, cards: Iterator[Click], amount: Amount) -> None:
        self._bot, self._url, self._cards, self._amount = bot, url, cards, amount

    async def hold(self, kind: Kind | None) -> float:
        """The longest, in milliseconds, while this is sent; None: while people click."""
        await self._longest()
        end = time.monotonic() + self._amount.hostile
        hands = [self._send(kind, end) for _ in range(HANDS)] if kind else []
        await asyncio.gather(self._click(end), *hands)
        return await self._longest() * 1000

    async def still_open(self, halves: list[Kind]) -> int:
        """How many of HALVES are open after SILENCE."""
        count = HALVES if self._amount.hostile >= 1 else 3
        wires = [await self._begun(halves[n % len(halves)]) for n in range(count)]
        await asyncio.sleep(SILENCE)
        ended = await asyncio.gather(*(_has_ended(reader) for reader, _ in wires))
        for _, writer in wires:
            writer.close()
        return count - sum(ended)

    async def _longest(self) -> float:
        self._bot.signal(signal.SIGUSR1)
        return float(await self._bot.line())

    async def _click(self, end: float) -> None:
        async with connected(self._url) as connection:
            while time.monotonic() < end:
                async with asyncio.timeout(ANSWER):
                    await connection.send(next(self._cards).request)
                await asyncio.sleep(0.02)

    async def _send(self, kind: Kind, end: float) -> None:
        while time.monotonic() < end:
            reader, writer = await self._begun(kind)
            with suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(ANSWER if kind.whole else self._amount.hostile / 4):
                    if kind.drips:
                        await _drip(writer)
                    while kind.whole and await reader.read(65536):
                        pass
                    await asyncio.sleep(0 if kind.whole else ANSWER)
            writer.close()

    async def _begun(self, kind: Kind) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        where = urlsplit(self._url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        writer.write(kind.sent.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nConnection: close\r\n", 1))
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
