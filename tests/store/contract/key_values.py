"""Drafts, Homes, locks, tokens, and what a channel keeps."""

from __future__ import annotations

import asyncio

from hitl_core.model import Token
from hitl_core.store import Store
from tests.store.steps import Pass


class KeyValuesContract:
    async def test_a_temporary_value_is_kept_for_a_while(self, store: Store, let_pass: Pass):
        """Written over, dropped, or forgotten when its time is over; bytes as they were."""
        key, data = "T1:U1:0-abc:1:1 }{", b"\x00\xff{"
        assert await store.temporary_value(key) is None
        await store.save_temporary_value(key, b"old", 60)
        await store.save_temporary_value(key, data, 20)
        assert await store.temporary_value(key) == data
        assert await store.temporary_value("another") is None
        await let_pass(25)
        assert await store.temporary_value(key) is None
        await store.save_temporary_value(key, data, 60)
        await store.drop_temporary_value(key)
        await store.drop_temporary_value(key)
        assert await store.temporary_value(key) is None

    async def test_a_temporary_value_is_replaced_only_if_nobody_changed_it(
        self, store: Store, let_pass: Pass
    ):
        """Of many at once one succeeds. The same again succeeds too: its reply may have been lost."""
        key, data = "view", b"\x00{"
        assert not await store.replace_temporary_value(key, b"old", data, 60)
        assert await store.temporary_value(key) is None
        added = [store.replace_temporary_value(key, None, b"%d" % one, 60) for one in range(8)]
        assert sorted(await asyncio.gather(*added)) == [False] * 7 + [True]
        known = await store.temporary_value(key)
        assert known is not None
        assert await store.replace_temporary_value(key, known, data, 20)
        assert await store.replace_temporary_value(key, known, data, 20)
        assert not await store.replace_temporary_value(key, known, b"late", 60)
        assert await store.temporary_value(key) == data
        await let_pass(25)
        assert not await store.replace_temporary_value(key, data, b"late", 60)
        await store.save_temporary_value(key, data, 60)
        assert not await store.replace_temporary_value(key, known, None, 60)
        assert await store.replace_temporary_value(key, data, None, 60)
        assert await store.replace_temporary_value(key, data, None, 60)
        assert await store.temporary_value(key) is None

    async def test_who_has_looked_at_home_lately(self, store: Store):
        """The latest first; a look that comes late doesn't take back a later one."""
        now = await store.now()
        for user, ago in (("T1:U1", 90), ("T1:U2", 30), ("T1:U1", 10), ("T1:U1", 50)):
            await store.record_home_view(user, now - ago)

        assert await store.home_viewers(now - 60) == ["T1:U1", "T1:U2"]
        assert await store.home_viewers(now - 20) == ["T1:U1"]
        assert await store.home_viewers(now) == []

    async def test_a_claim_is_ones_until_its_time_is_over(self, store: Store, let_pass: Pass):
        """Of many at once one has it; another name is another claim."""
        claimed = await asyncio.gather(*(store.try_lock("home:U1", 30) for _ in range(8)))
        assert sorted(claimed) == [False] * 7 + [True]
        assert await store.try_lock("home:U2", 60)
        await let_pass(35)
        assert await store.try_lock("home:U1", 10)
        assert not await store.try_lock("home:U1", 10)

    async def test_a_lock_is_its_owners_until_it_is_released_or_its_time_is_over(
        self, store: Store, let_pass: Pass
    ):
        """Its owner may take it again, and has it for longer then. Only its owner can release it."""
        assert await store.hold_thread("billing", "t-1", "a", 30)
        assert not await store.hold_thread("billing", "t-1", "b", 30)
        await let_pass(20)
        assert await store.hold_thread("billing", "t-1", "a", 30)
        await let_pass(20)
        assert not await store.hold_thread("billing", "t-1", "b", 60)
        assert await store.hold_thread("support", "t-1", "b", 60)
        await store.release_thread("billing", "t-1", "b")
        assert not await store.hold_thread("billing", "t-1", "b", 60)
        await store.release_thread("billing", "t-1", "a")
        assert await store.hold_thread("billing", "t-1", "b", 30)
        await let_pass(35)
        assert await store.hold_thread("billing", "t-1", "a", 10)

    async def test_a_lock_is_kept_for_the_time_that_its_owner_asked_for(
        self, store: Store, let_pass: Pass
    ):
        """Given an owner with a long time; when another one asks for the lock for a short time, then the
        owner keeps it for its own time."""
        assert await store.hold_thread("billing", "t-1", "a", 120)
        assert not await store.hold_thread("billing", "t-1", "b", 30)
        await let_pass(60)
        assert not await store.hold_thread("billing", "t-1", "b", 30)
        await let_pass(65)
        assert await store.hold_thread("billing", "t-1", "b", 30)

    async def test_a_token_is_kept_until_it_is_dropped(self, store: Store):
        """One agent may have several, and their texts are not stored."""
        old, text = Token.issue("billing", "the invoice run", 5.0)
        new, _ = Token.issue("billing", "", 6.0)
        await store.save_token(new)
        await store.save_token(old)

        assert await store.tokens() == [old, new]
        assert (kept := await store.token(old.id)) == old
        assert kept is not None
        assert kept.matches(text)
        assert text.split("_", 2)[2] not in kept.model_dump_json()

        assert await store.drop_token(old.id)
        assert not await store.drop_token(old.id)
        assert await store.token(old.id) is None
        assert await store.tokens() == [new]

    async def test_a_channels_values_stay_until_they_are_dropped(self, store: Store):
        """Any bytes under any name, and other channels have their own."""
        assert await store.channel_values("teams") == {}
        await store.save_channel_value("teams", "conversation:19:ä@thread", b"\x00{}")
        await store.save_channel_value("teams", "name:Ops", b"old")
        await store.save_channel_value("teams", "name:Ops", b"new")
        await store.save_channel_value("other", "name:Ops", b"other")

        expected = {"conversation:19:ä@thread": b"\x00{}", "name:Ops": b"new"}
        assert await store.channel_values("teams") == expected

        await store.drop_channel_value("teams", "name:Ops")
        await store.drop_channel_value("teams", "name:Ops")
        del expected["name:Ops"]
        assert await store.channel_values("teams") == expected
        assert await store.channel_values("other") == {"name:Ops": b"other"}

    async def test_the_first_of_a_channels_values_counts(self, store: Store):
        """Given bots that make the same value at the same time, then all get the one that is stored."""
        given = [bytes([n]) * 32 for n in range(8)]
        got = await asyncio.gather(
            *(store.add_channel_value("teams", "button-key", one) for one in given)
        )
        assert len({*got}) == 1
        assert got[0] in given
        assert await store.channel_values("teams") == {"button-key": got[0]}
