"""Values that the store keeps about Teams are damaged, or of a newer version: they are reported, and the
others can still be read.
"""

from __future__ import annotations

import asyncio

import pytest
import redis

from bot.channels.contract import LookupFailed
from bot.channels.teams import stored_key
from bot.channels.teams.ids import NAME
from bot.channels.teams.stored_key import KEY_NAME, StoredKey
from bot.channels.teams.transport import Reference, References
from bot.health import Health
from hitl_core.errors import Refused, SettingsError
from hitl_core.model import Place
from hitl_core.store import MemoryStore, RedisStore
from teams_sandbox.server import running_sandbox
from tests.support.teams.local import install_everywhere, make_channel
from tests.support.waiting import wait_until

BAD = "19:bad@thread.tacv2"
URL = "https://smba.trafficmanager.net/emea/"
GOOD = Reference(id="19:good@thread.tacv2", kind="channel", service_url=URL, team="t1")
DAMAGED = [
    b"{",
    b"\xff\xfe",
    b'{"id":"19:bad@thread.tacv2","kind":"other","service_url":"x"}',
    b'{"id":"19:bad@thread.tacv2","kind":"channel","service_url":"x","new":1}',
    b'{"id":"19:good@thread.tacv2","kind":"channel","service_url":"https://other.example"}',
]


@pytest.mark.parametrize("data", DAMAGED)
async def test_a_damaged_reference_hides_no_other(data: bytes) -> None:
    """Given a conversation that can't be read; then the others are known as before, it is told, and what
    happens there stores it again."""
    store, health = MemoryStore(), Health()
    references = References(store, health)
    await references.save(GOOD)
    await store.save_channel_value(NAME, f"conversation:{BAD}", data)
    references = References(store, health)
    await references.refresh()
    assert references.all() == [GOOD]
    [problem] = health.current_problems()
    assert f"delete conversation:{BAD} in hitl:channel:teams" in problem.text
    bad = Reference(id=BAD, kind="channel", service_url=URL)
    await references.save(bad)
    await references.refresh(now=True)
    assert references.all() == [GOOD, bad]
    assert health.current_problems() == ()


async def test_a_damaged_reference_can_be_removed() -> None:
    """When the app is removed from there, then nobody is told of it any more."""
    store, health = MemoryStore(), Health()
    await store.save_channel_value(NAME, f"conversation:{BAD}", b"{")
    references = References(store, health)
    await references.refresh()
    await references.forget(BAD)
    assert health.current_problems() == ()


async def test_a_name_is_unknown_while_a_conversation_can_not_be_read() -> None:
    """Given a conversation that can't be read, which may have this name too; then the name leads nowhere yet,
    and that is no "there is none". A name that leads somewhere already still does."""
    store, pinned = MemoryStore(), Place("teams:Operations")
    async with running_sandbox() as sandbox:
        channel = make_channel(sandbox, store)
        await install_everywhere(sandbox, channel)
        await channel.start()
        known = await channel.conversation_id(pinned)
        await store.save_channel_value(NAME, f"conversation:{BAD}", b"{")
        await channel.references.refresh(now=True)
        assert await channel.conversation_id(pinned) == known
        with pytest.raises(LookupFailed, match="can't be read"):
            await channel.conversation_id(Place("teams:Nobody"))
        await channel.close()


async def test_a_damaged_pin_is_unknown() -> None:
    """Given a name of which is damaged where it led; then it leads nowhere: not to the channel that has the
    name today."""
    store = MemoryStore()
    async with running_sandbox() as sandbox:
        channel = make_channel(sandbox, store)
        await install_everywhere(sandbox, channel)
        await channel.start()
        await store.save_channel_value(NAME, "name:Operations", b"\xff\xfe")
        for _ in range(2):
            with pytest.raises(LookupFailed, match="hitl teams-names forget"):
                await channel.conversation_id(Place("teams:Operations"))
            await channel.references.refresh(now=True)
        await channel.close()


async def test_a_damaged_key_is_a_sentence() -> None:
    store = MemoryStore()
    await store.save_channel_value(NAME, "button-key", b"short")
    async with running_sandbox() as sandbox:
        channel = make_channel(sandbox, store)
        with pytest.raises(SettingsError, match="Delete button-key in hitl:channel:teams"):
            await channel.start()
        await channel.close()


async def test_a_key_that_was_deleted_is_stored_again() -> None:
    """Given two bots whose key somebody deletes; then it is stored again, and a bot that starts later takes
    the buttons of the others: half of all presses were refused."""
    store, health = MemoryStore(), Health()
    first, second = StoredKey(store, health), StoredKey(store, health)
    await first.start()
    button = first.within("c").data("close", "x")
    await store.drop_channel_value(NAME, KEY_NAME)
    await first.check()
    await second.start()
    assert second.within("c").read(button) == ("close", "x")
    assert health.current_problems() == ()


async def test_a_key_that_was_replaced_is_taken_and_told() -> None:
    """Then the bots take the buttons of each other again, refuse the earlier ones, and the operators know."""
    store, health = MemoryStore(), Health()
    first, second = StoredKey(store, health), StoredKey(store, health)
    await first.start()
    button = first.within("c").data("close", "x")
    await store.drop_channel_value(NAME, KEY_NAME)
    await second.start()
    await first.check()
    [problem] = health.current_problems()
    assert "another key for the buttons in Teams" in problem.text
    assert first.within("c").read(second.within("c").data("close", "x")) == ("close", "x")
    with pytest.raises(Refused):
        first.within("c").read(button)


async def test_a_key_that_was_damaged_is_told_and_the_buttons_work() -> None:
    store, health = MemoryStore(), Health()
    key = StoredKey(store, health)
    await key.start()
    button = key.within("c").data("close", "x")
    await store.save_channel_value(NAME, KEY_NAME, b"short")
    await key.check()
    [problem] = health.current_problems()
    assert "no bot can start" in " ".join(problem.text.split())
    assert key.within("c").read(button) == ("close", "x")


async def test_a_key_that_can_not_be_read_is_told(
    store: RedisStore, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given something else in place of all that Teams keeps; then the operators know."""
    monkeypatch.setattr(stored_key, "INTERVAL", 0.01)
    health = Health()
    key = StoredKey(store, health)
    await key.start()
    with redis.Redis.from_url(redis_url) as client:
        client.delete("hitl:channel:teams")
        client.set("hitl:channel:teams", "x")
        watch = asyncio.create_task(key.run())
        [problem] = await wait_until("it is told", health.current_problems)
        client.delete("hitl:channel:teams")
    watch.cancel()
    assert problem.kind == "store"
