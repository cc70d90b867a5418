"""Which errors a channel's call may raise: four kinds, and no other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bot.card import build_card, thread_lines
from bot.channels.contract import (
    Channel,
    LookupFailed,
    MessageGone,
    NotFound,
    RateLimited,
    Undeliverable,
    Unreachable,
)
from hitl_core.model import MessageRef
from tests.channels.contract.world import World
from tests.channels.scenes import DEFAULT, THREE, decide, review_of

REVIEW = decide(review_of(*THREE), "1", "reject", message="No.")
CARD = build_card(REVIEW, DEFAULT)
(LINE,) = thread_lines(REVIEW, DEFAULT)

#: One call of a channel, in a world with a card at `ref`.
Call = Callable[[World, Channel, MessageRef], Awaitable[Any]]

ACTS: dict[str, Call] = {
    "post": lambda world, channel, ref: channel.post(world.room, CARD),
    "post_plain": lambda world, channel, ref: channel.post_plain(world.room, CARD),
    "update": lambda world, channel, ref: channel.update(world.room, ref, CARD),
    "reply": lambda world, channel, ref: channel.reply(world.room, ref, LINE),
    "delete": lambda world, channel, ref: channel.delete(world.room, ref),
}
LOOK_UPS: dict[str, Call] = {
    "person": lambda world, channel, ref: channel.person(world.member),
    "group_members": lambda world, channel, ref: channel.group_members(world.group_id),
    "conversation_members": lambda world, channel, ref: channel.conversation_members(
        ref.conversation
    ),
    "conversation_size": lambda world, channel, ref: channel.conversation_size(world.room),
    "audiences": lambda world, channel, ref: channel.audiences(world.member),
    "check_place of a conversation": lambda world, channel, ref: channel.check_place(world.room),
    "check_place of a person": lambda world, channel, ref: channel.check_place(world.direct),
    "check_place of a group": lambda world, channel, ref: channel.check_place(world.group),
    "find_messages": lambda world, channel, ref: channel.find_messages(
        world.room, CARD.review_id, world.now
    ),
}
CALLS = {**ACTS, **LOOK_UPS}


class Failures:
    @pytest.fixture
    async def ref(self, world: World) -> MessageRef:
        return await world.channel.post(world.room, CARD)

    @pytest.mark.parametrize("name", [name for name in CALLS if name != "find_messages"])
    async def test_a_limited_call_says_for_how_long(self, world: World, ref: MessageRef, name: str):
        world.fail("limited")
        with pytest.raises(RateLimited) as limited:
            await CALLS[name](world, world.channel, ref)
        assert 0 < limited.value.pause() <= 120

    @pytest.mark.parametrize("name", CALLS)
    async def test_a_failing_service_is_unreachable(self, world: World, ref: MessageRef, name: str):
        world.fail("down")
        with pytest.raises(Unreachable):
            await CALLS[name](world, world.channel, ref)

    @pytest.mark.parametrize("name", CALLS)
    async def test_a_lost_answer_is_unreachable(self, world: World, ref: MessageRef, name: str):
        world.fail("lost")
        with pytest.raises(Unreachable):
            await CALLS[name](world, world.channel, ref)

    @pytest.mark.parametrize("name", ACTS)
    async def test_a_refusal_is_permanent_and_proves_nothing_about_the_place(
        self, world: World, ref: MessageRef, name: str
    ):
        """Given an error that is new to us, then it is Undeliverable: neither the place nor the message is
        certainly gone."""
        world.fail("refused")
        with pytest.raises(Undeliverable) as refused:
            await ACTS[name](world, world.channel, ref)
        assert not isinstance(refused.value, NotFound | MessageGone)
        assert str(refused.value)

    @pytest.mark.parametrize("fault", ["refused", "unreadable"])
    @pytest.mark.parametrize("name", LOOK_UPS)
    async def test_promise_7_an_unknown_answer_is_neither_yes_nor_no(
        self, world: World, ref: MessageRef, name: str, fault: Any
    ):
        """Given a look-up that is refused, or whose answer can't be read; then the result is unknown: not
        NotFound, not None, not nobody."""
        world.fail(fault)
        with pytest.raises((LookupFailed, Undeliverable)) as unknown:
            await LOOK_UPS[name](world, world.channel, ref)
        assert not isinstance(unknown.value, NotFound)

    @pytest.mark.parametrize("name", ["post", "post_plain"])
    async def test_a_post_with_an_unreadable_answer_may_have_succeeded(
        self, world: World, ref: MessageRef, name: str
    ):
        world.fail("unreadable")
        with pytest.raises(Unreachable):
            await CALLS[name](world, world.channel, ref)

    @pytest.mark.parametrize("name", CALLS)
    async def test_after_an_outage_everything_works_again(
        self, world: World, ref: MessageRef, name: str
    ):
        """Nothing of a failed call is kept, neither as a yes nor as a no."""
        world.fail("refused")
        with pytest.raises((LookupFailed, Undeliverable)):
            await CALLS[name](world, world.channel, ref)
        world.recover()
        await CALLS[name](world, world.channel, ref)
