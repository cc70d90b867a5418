"""A backlog in one channel, on a virtual clock: how long until all of it is visible, compared with the time
that Slack's rate limit needs. The test does not really wait.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from bot.card import Card
from bot.channels.contract import Person, RateLimited
from bot.channels.registry import Channels
from bot.channels.slack import SlackChannel
from bot.health import Health
from bot.outbox import LATE_WINDOW, Delivery, DigestMaker, Lane
from bot.people import Directory
from hitl_core import Gate, Policy, ToolCall
from hitl_core.model import DEFAULT_PLACE, MessageRef, Place
from hitl_core.review import Reviews
from hitl_core.store import MemoryStore

#: Slack's own limit for messages to one channel, in seconds.
LIMIT = 1.0
DIGEST_AFTER = 30


async def measure(amount: Amount) -> list[Figure]:
    count = min(1000, max(40, amount.pending // 10))
    alone, shared = [await asyncio.to_thread(_show, count, after) for after in (0, DIGEST_AFTER)]
    name = f"{count:,} reviews wait for one channel"
    limit = count * LIMIT
    return [
        Figure(f"{name}, a card each: until all are shown", "s", alone[0], limit, 1.05, "lower"),
        Figure(f"{name}, a card each: posts", "", alone[1], count, 1.05, "lower"),
        Figure(f"{name}, in digests: until all are shown", "s", shared[0], limit, 0.1, "lower"),
        Figure(f"{name}, in digests: posts", "", shared[1], count, 0.1, "lower"),
    ]


class _VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that does not wait: its clock jumps ahead. While a thread works, it waits and its
    clock stops: drawing in a thread takes no virtual time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._virtual = 0.0
        self._threads = 0
        selector: Any = self._selector  # pyright: ignore[reportAttributeAccessIssue]
        select = selector.select

        def jump(timeout: float | None = None) -> Any:
            if self._threads and timeout:
                return select(None)
            events = select(None if timeout is None else 0)
            if not events and timeout:
                self._virtual += timeout
            return events

        selector.select = jump

    def time(self) -> float:
        return self._virtual

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        self._threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._count_thread_out)
        return future

    def _count_thread_out(self, _: object) -> None:
        self._threads -= 1


class _Slack(SlackChannel):
    """A minimal Slack: it accepts one message a second, and has one channel."""

    def __init__(self) -> None:
        nobody = "http://127.0.0.1:9/"  # so that a call that is not replaced fails
        client = AsyncWebClient(token="xoxb-bench", base_url=nobody)
        super().__init__(client, "C0APPROVE", Health())
        self.team, self.posts, self.last, self._free_at = "T0ACME", 0, 0.0, 0.0

    async def conversation_id(self, place: Place) -> str:
        return "C0APPROVE"

    async def check_place(self, place: Place) -> None:
        pass

    async def conversation_members(self, conversation: str) -> frozenset[str]:
        return frozenset({"U0ALICE"})

    async def conversation_size(self, place: Place) -> int:
        return 2

    async def person(self, user_id: str) -> Person | None:
        return Person(user_id, "Alice Ng", "member")

    async def post(self, place: Place, card: Card) -> MessageRef:
        self.posts += 1
        now = asyncio.get_running_loop().time()
        if now < self._free_at - 0.001:
            raise RateLimited(self._free_at - now)
        self._free_at, self.last = now + LIMIT, now
        return MessageRef(channel=self.name, conversation="C0APPROVE", ts=f"{self.posts}.0")

    async def update(self, place: Place, ref: MessageRef, card: Card) -> None:
        self.last = asyncio.get_running_loop().time()


def _show(count: int, after: int) -> tuple[float, int]:
    """The seconds of the virtual clock until the last review is visible, and the number of posts."""
    loop = _VirtualLoop()
    try:
        return loop.run_until_complete(_run(count, after))
    finally:
        loop.close()


async def _run(count: int, after: int) -> tuple[float, int]:
    loop, began = asyncio.get_running_loop(), time.time()
    store, channel = MemoryStore(lambda: began + loop.time()), _Slack()
    gate = Gate(store, policy=Policy.from_mapping({"default": "review"}), agent="bench")
    ids = [
        await gate.submit([ToolCall("c1", "note", {"n": n})], thread_id=f"t-{n}")
        for n in range(count)
    ]
    reviews, channels = Reviews(store), Channels(channel)
    delivery = Delivery(reviews, channels, Directory(channels), Health(), 1.0)
    gather = DigestMaker(reviews, channels, Health(), after).gather
    lane = Lane(DEFAULT_PLACE, store, delivery.run_job, Health(), LATE_WINDOW, 1.0, gather=gather)
    submitted = loop.time()
    await lane.run()
    assert all([(await reviews.load(one)).posts for one in ids])
    return channel.last - submitted, channel.posts
