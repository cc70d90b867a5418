"""Each channel has its own rate limits, and its own Homes."""

from __future__ import annotations

from bot.channels.slack import SlackChannel
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


async def test_house_each_channel_is_called_at_its_own_pace(channel: SlackChannel) -> None:
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


async def test_house_a_home_is_updated_by_the_channel_of_its_person() -> None:
    """Given people of two channels, with the same id, who opened their Home, and one of a channel that the
    bot does not have; then each Home is updated once, by its own channel."""
    store, published = MemoryStore(), list[tuple[str, str]]()
    for key in ("slack:U1", "text:U1", "gone:U1"):
        await store.record_home_view(key, await store.now())

    def publish_in(name: str) -> PublishHome:
        async def publish(id: str) -> None:
            published.append((name, id))

        return publish

    refresher = HomeRefresher(store, {name: publish_in(name) for name in ("slack", "text")})
    await refresher.tick()
    await refresher.tick()

    assert sorted(published) == [("slack", "U1"), ("text", "U1")]
