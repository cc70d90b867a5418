"""Many reviews at once in one channel, with rate limits, while bots are killed; and what a waiting backlog
costs.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

from redis.asyncio import Redis

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from benchmarks.support.fixture import EVERYSEC
from benchmarks.support.process import ROOT
from benchmarks.support.slack import SIGNING_SECRET
from hitl_core import Gate, Policy, ToolCall
from slack_sandbox.demo import EmbeddedRedis
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from slack_sandbox.server import running_sandbox

#: All rate limits are ten times faster: Slack's minute takes six seconds, for Slack and for the bots.
SCALE = 10.0
PACE, IDLE = 1 / SCALE, 2.0
CHANNEL = "C0APPROVE"


async def measure(amount: Amount) -> list[Figure]:
    count = min(600, max(10, amount.pending // 10))
    async with _open_fixture(SCALE) as fixture:
        bots = [await fixture.start_bot(), await fixture.start_bot()]
        began = time.monotonic()
        submitted = await fixture.submit(count)
        for number, bot in enumerate(bots):
            await fixture.wait_shown((number + 1) * count // 4)
            os.kill(bot.pid, signal.SIGKILL)
            await fixture.start_bot()
        await fixture.wait_shown(count)
        spent = time.monotonic() - began
    inversions = _inversions([submitted.index(one) for one in fixture.visible_reviews()])
    posts, looks = fixture.calls("chat.postMessage"), fixture.calls("conversations.history")
    refused = sum(call["error"] == "ratelimited" for call in posts)
    burst = f"a burst of {count} cards, two bots killed"
    seconds = max(1.0, 10 * amount.settle)
    few, many = [await _idle_load(waiting, seconds) for waiting in (1, min(1000, amount.pending))]
    backlog = f"with {min(1000, amount.pending):,} cards waiting"
    return [
        Figure(f"{burst}: until all are shown", "s", spent, count * PACE, 1.5, "lower"),
        Figure(f"{burst}: in order", "", count - inversions, count, 1.0, "higher"),
        Figure(f"{burst}: posts, refused ones included", "", len(posts), count, 1.05, "lower"),
        Figure(f"{burst}: posts accepted", "", len(posts) - refused, count, 1.05, "lower"),
        Figure(f"{burst}: reads of the history", "", max(1, len(looks)), 2, 4.0, "lower"),
        Figure(f"Redis commands per second {backlog}", "/s", many[0], few[0], 1.5, "lower"),
        Figure(f"append-only file per second {backlog}", "B/s", many[1], few[1], 1.5, "lower"),
    ]


def _inversions(places: list[int]) -> int:
    """How many cards come before a card that was submitted earlier."""
    return sum(one > two for one, two in pairwise(places))


class _Fixture:
    def __init__(self, sandbox: Sandbox, redis_url: str, redis: Redis) -> None:
        self.sandbox, self.redis_url, self.redis = sandbox, redis_url, redis
        self._bots: list[asyncio.subprocess.Process] = []

    async def start_bot(self) -> asyncio.subprocess.Process:
        environment = {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": self.sandbox.api_url,
            "HITL_REDIS_URL": self.redis_url,
            "HITL_CHANNEL": "#agent-approvals",
            "HITL_PORT": "0",
            "HITL_DIGEST_AFTER": "0",  # each review is one card
        }
        bot = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.programs.paced_bot", str(PACE), str(IDLE),
            cwd=ROOT, env={**os.environ, **environment},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        self._bots.append(bot)
        assert bot.stdout is not None
        await bot.stdout.readline()
        return bot

    async def submit(self, count: int) -> list[str]:
        policy = Policy.from_mapping({"default": "review"})
        async with Gate.connect(self.redis_url, policy=policy, agent="bench") as gate:
            return [
                await gate.submit([ToolCall("c1", "note", {"n": n})], thread_id=f"t-{n}")
                for n in range(count)
            ]

    def visible_reviews(self) -> list[str]:
        """The reviews, in the order of their cards in the channel."""
        messages = self.sandbox.workspace.channels[CHANNEL].messages.values()
        marks = [one.metadata for one in sorted(messages, key=lambda one: float(one.ts))]
        return [mark["event_payload"]["review_id"] for mark in marks if mark]

    async def wait_shown(self, count: int) -> None:
        async with asyncio.timeout(600):
            while len(self.visible_reviews()) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    def calls(self, method: str) -> list[dict[str, object]]:
        return [call for call in self.sandbox.api.calls if call["method"] == method]

    async def stop_bots(self) -> None:
        for bot in self._bots:
            if bot.returncode is None:
                bot.send_signal(signal.SIGINT)
            await bot.wait()


@asynccontextmanager
async def _open_fixture(scale: float) -> AsyncGenerator[_Fixture, None]:
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedRedis(Path(folder) / "redis", settings=EVERYSEC) as server,
    ):
        async with (
            running_sandbox(signing_secret=SIGNING_SECRET, rate_limits=scale) as sandbox,
            Redis.from_url(server.url) as redis,
        ):
            fixture = _Fixture(sandbox, server.url, redis)
            try:
                yield fixture
            finally:
                await fixture.stop_bots()


async def _idle_load(waiting: int, seconds: float) -> tuple[float, float]:
    """Redis commands and bytes of the append-only file per second, of a bot with this many waiting cards."""
    async with _open_fixture(SCALE) as fixture:
        fixture.sandbox.faults.configure(
            {"mode": "ratelimited", "method": "chat.postMessage", "retry_after": 600}
        )
        await fixture.submit(waiting)
        await fixture.start_bot()
        while not fixture.calls("chat.postMessage"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await asyncio.sleep(seconds / 2)  # at its start, a bot reads each waiting review once
        before = await _redis_usage(fixture.redis)
        await asyncio.sleep(seconds)
        after = await _redis_usage(fixture.redis)
    commands, written = (two - one for one, two in zip(before, after, strict=True))
    return commands / seconds, written / seconds


async def _redis_usage(redis: Redis) -> tuple[int, int]:
    stats, persistence = await redis.info("stats"), await redis.info("persistence")
    return int(stats["total_commands_processed"]), int(persistence["aof_current_size"])
