"""A bot with the text channel, and an agent: the real core and a real Redis, with a chat system in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import uuid4

from aiohttp import web

from bot.channels.connection import BotParts, Endpoint
from bot.channels.registry import Channels
from bot.health import Health
from bot.inbox import HomeLoader, Inbox
from bot.outbox import Delivery, DueTimers, Outbox, PublishHome, Workers
from bot.people import Directory
from hitl_core import Gate, Outcome, Policy, ToolCall
from hitl_core.review import Reviews
from hitl_core.store import RedisStore
from tests.support.bots import QUICK
from tests.support.text_channel.channel import TextChannel
from tests.support.text_channel.events import TextEvents
from tests.support.text_channel.home import TextHome
from tests.support.text_channel.network import Content, Message
from tests.support.text_channel.office import office
from tests.support.waiting import wait_until


class TextConnection:
    """The text channel and its network, for use by tests."""

    def __init__(self) -> None:
        self.network = office()
        self.channel = TextChannel(self.network, "r-orders")

    def home_publisher(self, parts: BotParts) -> PublishHome:
        return TextHome(self.channel, parts.inbox, parts.homes).publish

    @asynccontextmanager
    async def serve(self, app: web.Application, parts: BotParts) -> AsyncIterator[Endpoint]:
        home = TextHome(self.channel, parts.inbox, parts.homes)
        TextEvents(self.network, self.channel, parts.inbox, parts.channels.name_of, home)
        yield Endpoint()

    async def message(self, *texts: str, room: str = "r-orders") -> Message:
        """Waits for a message in this room that contains all of these texts, and returns the first one."""

        def find() -> Message | None:
            return next((one for one in self.messages(room) if _says(one.content, *texts)), None)

        return await wait_until(f"a message in {room} that says {texts}", find)

    async def thread(self, message: Message, *texts: str) -> None:
        """Waits until a line in the thread contains all of these texts."""

        def find() -> bool:
            replies = [one for one in self.network.messages.values() if one.thread == message.id]
            return any(_says(one.content, *texts) for one in replies)

        await wait_until(f"a line that says {texts}", find)

    def messages(self, room: str = "r-orders") -> list[Message]:
        every = self.network.messages.values()
        return [one for one in every if one.room == room and not one.thread]


class TextScene(TextConnection):
    """A bot that has only the text channel, one Redis, and the agents that a test starts."""

    def __init__(self, redis_url: str, stack: AsyncExitStack) -> None:
        super().__init__()
        self._redis_url, self._stack = redis_url, stack

    async def ask(self, policy: dict[str, Any], *calls: ToolCall) -> asyncio.Task[Outcome]:
        """An agent that waits for people to decide on these calls."""
        policy = {"default": "review", "notify": ["text:#orders"], **policy}
        gate = await self._stack.enter_async_context(
            Gate.connect(self._redis_url, policy=Policy.from_mapping(policy), agent="crm")
        )
        task = asyncio.create_task(gate.review([*calls], thread_id=f"t-{uuid4().hex}"))
        self._stack.callback(task.cancel)
        return task


def _says(content: Content, *texts: str) -> bool:
    said = " ".join(content.lines)
    return all(text in said for text in texts)


@asynccontextmanager
async def text_scene(redis_url: str) -> AsyncIterator[TextScene]:
    async with AsyncExitStack() as stack:
        scene = TextScene(redis_url, stack)
        await scene.channel.start()
        store = await RedisStore.open(redis_url)
        stack.push_async_callback(store.close)
        reviews = Reviews(store, retry_seconds=5.0)
        channels = Channels(scene.channel)
        directory = Directory(channels)
        inbox = Inbox(reviews, directory)
        homes = HomeLoader(reviews, channels, directory)
        parts = BotParts(inbox, homes, channels, directory, asyncio.Event())
        await stack.enter_async_context(scene.serve(web.Application(), parts))
        outbox = Outbox(
            reviews,
            Delivery(reviews, channels, directory, Health()),
            Health(),
            lane_lease=QUICK.lane_lease,
            requeue_interval=QUICK.requeue_interval,
            late_window=QUICK.late_window,
        )
        timers = DueTimers(reviews, Health(), interval=QUICK.timers_interval)
        await stack.enter_async_context(Workers(outbox, timers))
        yield scene
