"""Escalations: one round of due timers with few and with many pending reviews, and how late an escalation
step is.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import median

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from benchmarks.support.fixture import EVERYSEC
from bot.health import Health
from bot.outbox import DueTimers
from hitl_core import Policy, ToolCall
from hitl_core.gate import JudgedCalls, ReviewKey, build_review
from hitl_core.review import Reviews
from hitl_core.store import RedisStore
from slack_sandbox.demo import EmbeddedRedis

#: How many reviews are due in one round, and in one second.
DUE = 100
STEP_DELAY = 3600.0
POLICY = Policy.from_mapping(
    {"default": "review", "escalate": [{"after": "1h", "to": "slack:#team-ops"}]}
)
SUBMITS_AT_ONCE = 16


async def measure(amount: Amount) -> list[Figure]:
    few, many = amount.pending // 10, amount.pending * 10
    async with _open_fixture(few) as calm, _open_fixture(many) as full:
        times: dict[DueRounds, list[float]] = {calm: [], full: []}
        for _ in range(amount.rounds + 1):  # alternating; the first run is a warm-up
            for fixture, rounds in times.items():
                rounds.append(await fixture.time_round())
        floor, value = (median(each[1:]) for each in times.values())
        late = await full.lateness(seconds=amount.rounds)
    counts = f"{many:,} pending vs. {few:,}"
    return [
        Figure(
            f"one round of due timers, {counts}", "ms", value * 1000, floor * 1000, 1.2, "lower"
        ),
        Figure("how late a step is, p99, vs. 1 s", "s", late, 1.0, 1.0, "lower"),
    ]


@asynccontextmanager
async def _open_fixture(pending: int) -> AsyncGenerator[DueRounds, None]:
    """A separate Redis with this many waiting reviews, whose next step is in an hour."""
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedRedis(Path(folder) / "redis", settings=EVERYSEC) as server,
    ):
        store = await RedisStore.open(server.url)
        try:
            fixture = DueRounds(store)
            await fixture.fill(pending)
            yield fixture
        finally:
            await store.close()


class DueRounds:
    """Submits reviews that are due, to this store, and applies what is due."""

    def __init__(self, store: RedisStore) -> None:
        self._store, self._reviews = store, Reviews(store)
        self._timers = DueTimers(self._reviews, Health())
        self._number = 0

    async def fill(self, count: int) -> None:
        now = await self._store.now()
        numbers = iter(range(count))

        async def work() -> None:
            for _ in numbers:
                await self._submit(now)

        await asyncio.gather(*(work() for _ in range(SUBMITS_AT_ONCE)))

    async def time_round(self) -> float:
        """Seconds for DUE reviews that are due at the same time."""
        now = await self._store.now()
        await asyncio.gather(*(self._submit(now - STEP_DELAY) for _ in range(DUE)))
        start = time.perf_counter()
        if await self._timers.tick() != DUE:
            raise RuntimeError("The round did not take exactly the steps that were due.")
        return time.perf_counter() - start

    async def lateness(self, seconds: int) -> float:
        """How late a step is when DUE steps are due per second and the worker runs with its normal pauses:
        the 99th percentile, in seconds by the store's clock. A step that is never taken is infinitely late.
        """
        start = await self._store.now() + 1.0
        when = [start + n / DUE for n in range(DUE * seconds)]
        ids = await asyncio.gather(*(self._submit(at - STEP_DELAY) for at in when))
        running = asyncio.create_task(self._timers.run())
        try:
            await asyncio.sleep(seconds + 3.0)
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        late: list[float] = []
        for review_id, at in zip(ids, when, strict=True):
            escalations = (await self._reviews.load(review_id)).review.actions[0].escalations
            late.append(escalations[0].at - at if escalations else float("inf"))
        return sorted(late)[int(len(late) * 0.99) - 1]

    async def _submit(self, now: float) -> str:
        self._number += 1
        which = ReviewKey("bench", f"thread-{self._number}", "turn", None)
        calls = [ToolCall("call", "send_email", {"to": "jo@example.com"})]
        judged = [POLICY.judge(each) for each in calls]
        review, event = build_review(which, JudgedCalls(calls, judged), self._store.partitions, now)
        await self._reviews.submit(review, event)
        return review.id
