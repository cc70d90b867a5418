"""App Home of a person with many waiting reviews: read from Redis, drawn, and sent to a local Slack. That
Slack answers over HTTP from the same process, so the figure includes its work.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from slack_sdk.web.async_client import AsyncWebClient

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from benchmarks.support.fixture import EVERYSEC
from bot.channels.registry import Channels
from bot.channels.slack import SlackChannel, view_blocks
from bot.health import Health
from bot.inbox import HomeLoader
from bot.people import Directory
from hitl_core import Gate, Policy, ToolCall
from hitl_core.model import Reviewer
from hitl_core.review import Reviews
from hitl_core.store import RedisStore
from slack_sandbox.demo import EmbeddedRedis
from slack_sandbox.sandbox import BOT_TOKEN
from slack_sandbox.server import running_sandbox

ALICE = "U0ALICE"
POLICY = {"default": "review", "reviewers": {"users": [ALICE]}}


async def measure(amount: Amount) -> list[Figure]:
    waiting = max(5, amount.pending // 20)
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedRedis(Path(folder) / "redis", settings=EVERYSEC) as server,
    ):
        async with running_sandbox() as sandbox:
            await _fill(server.url, waiting)
            store = await RedisStore.open(server.url)
            try:
                client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url)
                channel = SlackChannel(client, "#agent-approvals", Health())
                await channel.start()
                who = Reviewer(channel="slack", team=channel.team, id=ALICE, name="Alice")
                times: list[float] = []
                for _ in range(amount.rounds * 3):
                    # Empty caches, as for a person who opens Home for the first time in a minute.
                    homes = HomeLoader(
                        Reviews(store), Channels(channel), Directory(Channels(channel))
                    )
                    start = time.perf_counter()
                    home = await homes.load_home(who)
                    if home.total != waiting:
                        raise RuntimeError(f"{home.total} of {waiting} reviews wait.")
                    view = {"type": "home", "blocks": view_blocks(home, channel)}
                    await channel.publish_home(ALICE, view)
                    times.append(time.perf_counter() - start)
            finally:
                await store.close()
    name = f"App Home, {waiting} waiting, vs. 1 s"
    return [Figure(name, "s", median(times), 1.0, 0.5, "lower")]


async def _fill(url: str, count: int) -> None:
    policy = Policy.from_mapping(POLICY)
    async with Gate.connect(url, policy=policy, agent="bench") as gate:
        await asyncio.gather(
            *(
                gate.submit(
                    [ToolCall("c", "send_email", {"to": "jo@example.com"})],
                    thread_id=f"t-{n}",
                    turn="1",
                )
                for n in range(count)
            )
        )
