"""Each channel has its own rate limits, and its own Homes."""

from __future__ import annotations

import asyncio
import gc
import itertools
import math

import pytest

from bot.channels.contract import RateLimited
from bot.channels.slack import SlackChannel
from bot.health import Health
from bot.outbox import HomeRefresher, PublishHome
from bot.outbox.rate_limit import RateLimit
from hitl_core.store import MemoryStore
from tests.support.text_channel.channel import TextChannel
from tests.support.text_channel.office import office


class NotedSlots(MemoryStore):
    """Notes which slots are asked for: (name, every, burst)."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = list[tuple[str, float, int]]()

    async def take_slot(self, name: str, every: float, burst: int = 1) -> float:
        self.slots.append((name, every, burst))
        return await super().take_slot(name, every, burst)


async def _call() -> str:
    return "done"


async def test_each_channel_is_called_at_its_own_pace(channel: SlackChannel) -> None:
    """Given two channels; when both post and update, then each waits for its own limits, slowed down by the
    same factor."""
    store, text = NotedSlots(), TextChannel(office(), "r-orders")
    limit = RateLimit(store, 2.0)

    for one in (channel, text):
        assert await limit.post(one, "here", _call) == "done"
        assert await limit.update(one, "here", _call) == "done"

    assert store.slots == [
        ("post:slack:here", 2.0, 1),
        ("update:slack", 2.4, 10),
        ("post:text:here", 2 * text.pace.message, 1),
        ("update:text", 2 * text.pace.update, text.pace.update_burst),
    ]


async def test_a_channel_may_limit_the_updates_of_each_conversation() -> None:
    """Given a channel with limits for each conversation, which limits the updates of one; then those of
    another one go on at once."""
    store, text = NotedSlots(), TextChannel(office(), "r-orders")
    text.pace = text.pace._replace(is_per_conversation=True)
    limit = RateLimit(store, 1.0)
    await store.pause_slots("update:text:here", 100.0)

    assert await limit.update(text, "there", _call) == "done"

    assert [name for name, *_ in store.slots] == ["update:text:there"]


async def test_a_post_without_patience_does_not_wait_for_a_long_pause() -> None:
    """Given a conversation whose posts are limited for a minute, where a card waits; then a line that may
    wait for two seconds is refused at once, before and after it has asked for its turn."""
    store, text = MemoryStore(), TextChannel(office(), "r-orders")
    limit = RateLimit(store, 1.0)
    await store.pause_slots("post:text:here", 60.0)

    async with asyncio.timeout(20):
        for _ in range(2):
            with pytest.raises(RateLimited) as limited:
                await limit.post(text, "here", _call, 2.0)
            assert 50 < limited.value.pause() <= 60
    assert await limit.post(text, "there", _call, 2.0) == "done"


class NotedPauses(MemoryStore):
    """Notes the pauses, each of which ends at once, on its own clock."""

    def __init__(self, patience: float = math.inf) -> None:
        super().__init__()
        self.pauses, self.now_at, self.patience = list[float](), 0.0, patience

    async def pause_slots(self, name: str, seconds: float) -> None:
        self.pauses.append(seconds)
        if seconds <= self.patience:
            self.now_at += seconds


async def test_a_limit_without_a_time_is_tried_less_and_less_often() -> None:
    """Given a channel that refuses calls and doesn't say for how long; then each pause is twice as long, up
    to about a minute, and after a call that it accepts it begins again."""
    store, text = NotedPauses(), TextChannel(office(), "r-orders")
    limit, calls = RateLimit(store, 0.0, clock=lambda: store.now_at), iter(range(20))

    async def call() -> str:
        if next(calls) in (8, 10):
            return "done"
        raise RateLimited(None)

    async def wait_for_both() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(limit.post(text, "here", call))
            tasks.create_task(limit.post(text, "here", call))

    await wait_for_both()

    rounded = [round(math.log2(one / 1.1)) for one in store.pauses]
    assert rounded == [0, 1, 2, 3, 4, 5, 6, 6, 0]


def test_a_limit_without_a_time_may_last_for_days() -> None:
    """Given more refusals in a row than a number of Python can be doubled, then the pause is the longest."""
    assert RateLimited(None).pause(2_000) >= 64


async def test_lines_without_patience_are_tried_less_and_less_often_too() -> None:
    """Given a channel that refuses posts and doesn't say for how long, and a line that is posted later where
    it would wait; then it is tried less and less often, although no call waits between two of its jobs."""
    store, text = NotedPauses(patience=2.0), TextChannel(office(), "r-orders")
    limit, tries = RateLimit(store, 0.0, clock=lambda: store.now_at), list[float]()

    async def line() -> str:
        tries.append(store.now_at)
        raise RateLimited(None)

    while len(tries) < 8:
        with pytest.raises(RateLimited) as later:
            await limit.post(text, "here", line, 2.0)
        gc.collect()
        store.now_at += later.value.pause()

    pauses = [after - before for before, after in itertools.pairwise(tries)]
    assert pauses[-1] > 60
    store.now_at += 1000.0  # another bot posted meanwhile
    with pytest.raises(RateLimited) as later:
        await limit.post(text, "here", line, 2.0)
    assert later.value.pause() < 3


async def test_calls_that_are_refused_together_make_one_pause() -> None:
    """Given many calls at the same time, all refused without a time; then none of them waits longer because
    of the others."""
    store, text = NotedPauses(), TextChannel(office(), "r-orders")
    limit, refused = RateLimit(store, 0.0, clock=lambda: 0.0), 0
    all_refused = asyncio.Event()

    async def call() -> str:
        nonlocal refused
        if all_refused.is_set():
            return "done"
        refused += 1
        if refused == 20:
            all_refused.set()
        await all_refused.wait()
        raise RateLimited(None)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(20):
            tasks.create_task(limit.post(text, "here", call))

    assert max(store.pauses) <= 1.2


async def test_a_home_is_updated_by_the_channel_of_its_person() -> None:
    """Given people of two channels, with the same id, who opened their Home, and one of a channel that the
    bot does not have; then each Home is updated once, by its own channel."""
    store, published = MemoryStore(), list[tuple[str, str]]()
    for key in ("slack:U1", "text:U1", "gone:U1"):
        await store.record_home_view(key, await store.now())

    def publish_in(name: str) -> PublishHome:
        async def publish(id: str) -> None:
            published.append((name, id))

        return publish

    refresher = HomeRefresher(
        store, {name: publish_in(name) for name in ("slack", "text")}, Health()
    )
    await refresher.tick()
    await refresher.tick()

    assert sorted(published) == [("slack", "U1"), ("text", "U1")]
