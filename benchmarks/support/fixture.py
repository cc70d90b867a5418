"""What all figures about clicks need: a Redis as in production, a Slack or a Teams, and waiting reviews."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from redis.asyncio import Redis

from benchmarks.support.chat import Chat
from benchmarks.support.payload import POLICY, tool_call
from benchmarks.support.process import Process, running
from benchmarks.support.slack import SLACK
from hitl_core import Gate, Policy
from hitl_core.store import Keys, RedisStore
from slack_sandbox.demo import DURABLE_SETTINGS, EmbeddedRedis

EVERYSEC = {**DURABLE_SETTINGS, "appendfsync": "everysec"}
#: How many submits run at the same time while a channel is filled.
SUBMITS_AT_ONCE = 16
#: How long posting the reviews may take, in seconds.
PATIENCE = 600.0


class Fixture:
    def __init__(
        self, folder: Path, redis_url: str, redis: Redis, chat: Chat, chat_url: str
    ) -> None:
        self.redis_url, self.redis, self.chat = redis_url, redis, chat
        self._chat_url = chat_url
        self._policy = folder / "policy.yaml"
        self._policy.write_text(json.dumps(POLICY))

    @property
    def environment(self) -> dict[str, str]:
        """The settings of a bot, or of a program that replaces one."""
        return {
            **self.chat.settings(self._chat_url),
            "HITL_REDIS_URL": self.redis_url,
            "HITL_PORT": "0",
            "HITL_POLICY": str(self._policy),
            "HITL_DIGEST_AFTER": "0",  # each review is one card, which can be clicked
        }

    @asynccontextmanager
    async def unpaced_bot(self) -> AsyncGenerator[Process, None]:
        """A bot that posts as fast as it can."""
        environment = self.environment
        async with running("benchmarks.programs.unpaced_bot", environment=environment) as bot:
            await bot.address()
            yield bot

    async def submit(self, count: int) -> None:
        """Submits this many new reviews, each in its own thread."""
        numbers = iter(range(count))
        before = await self._get_json("count")

        async def work() -> None:
            for number in numbers:
                await gate.submit([tool_call()], thread_id=f"pending-{before + number}", turn="1")

        policy = Policy.from_mapping(POLICY)
        async with Gate.connect(self.redis_url, policy=policy, agent="bench") as gate:
            await asyncio.gather(*(work() for _ in range(SUBMITS_AT_ONCE)))

    async def wait_posted(self, count: int) -> list[dict[str, Any]]:
        """The messages, when there are this many and the bot has no work left for them."""
        async with asyncio.timeout(PATIENCE):
            while (  # noqa: ASYNC110 - another process writes them
                await self._get_json("count") < count
                or await self.redis.hlen(Keys(0).change_counts)
            ):
                await asyncio.sleep(0.1)
        return await self._get_json("messages")

    async def create_pending(self, count: int) -> list[dict[str, Any]]:
        """The messages of this many reviews that wait for a click, and for which no agent waits."""
        async with self.unpaced_bot():
            await self.submit(count)
            return await self.wait_posted(count)

    async def last_home(self) -> str:
        """The Home that the bot published last, as JSON."""
        return json.dumps(await self._get_json("home"))

    async def _get_json(self, what: str) -> Any:
        async with aiohttp.request("GET", f"{self._chat_url}{what}") as response:
            return await response.json()

    async def check_settled(self, review_ids: list[str]) -> None:
        """Raises RuntimeError if a click did not count: a refused click also gets status 200."""
        store = await RedisStore.open(self.redis_url)
        found = [await store.load_outline(review_id) for review_id in review_ids]
        await store.close()
        settled = [each for each in found if each and each.review.status in ("settled", "done")]
        if len(settled) < len(found):
            raise RuntimeError(f"{len(found) - len(settled)} of {len(found)} clicks did not count.")


@asynccontextmanager
async def open_fixture(
    chat: Chat = SLACK, settings: Mapping[str, str] = EVERYSEC
) -> AsyncGenerator[Fixture, None]:
    """Empty at first; everything stops at the end of the block. `settings` are Redis's."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(EmbeddedRedis(folder / "redis", settings=settings))
        redis = await stack.enter_async_context(Redis.from_url(server.url))
        program = await stack.enter_async_context(running(chat.program))
        yield Fixture(folder, server.url, redis, chat, await program.address())
