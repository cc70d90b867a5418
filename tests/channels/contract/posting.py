"""Post, find, update, delete, reply."""

from __future__ import annotations

from contextlib import suppress

import pytest

from bot.card import Card, build_card, thread_lines
from bot.channels.contract import MessageGone, RateLimited, Unreachable
from hitl_core.model import Review, short_id
from tests.channels.contract.world import World
from tests.channels.scenes import DEFAULT, THREE, decide, review_of

HOUR = 3600.0


def ask(agent: str = "support-agent") -> Review:
    return review_of(*THREE, agent=agent)


def card_of(review: Review) -> Card:
    return build_card(review, DEFAULT)


class Posting:
    async def test_an_announcement_is_one_message_at_the_default_place(self, world: World):
        """Given lines for the operators, also texts that mean something to the chat system; when they are
        announced, then the default place has one message that says them, calls nobody and has no buttons."""
        lines = ["A place can't be used: it was archived.", *(one for one in world.nasty if one)]

        await world.channel.announce(lines)

        (shown,) = await world.messages(DEFAULT)
        assert lines[0] in shown.text
        assert (shown.buttons, shown.alive) == ((), frozenset())

    async def test_an_announcement_of_many_problems_names_each(self, world: World):
        """Given as many lines as one message of problems may have; then the beginning of each is there."""
        lines = [
            f"{n}. The review 0-93b4c7d2 can't be shown: {'Slack & co ' * 5}" for n in range(33)
        ]

        await world.channel.announce(lines)

        (shown,) = await world.messages(DEFAULT)
        assert [line[:40] for line in lines if line[:40] not in shown.text] == []

    async def test_a_post_is_one_message_that_shows_the_card(self, world: World):
        """Given a card of three actions, when it is posted, then people see one message with its title, the
        names of its tools, and buttons."""
        card = card_of(ask())

        ref = await world.channel.post(world.room, card)

        (shown,) = await world.messages(world.room)
        assert shown.ref == ref
        assert ref.channel == world.channel.name
        assert card.title in shown.text
        for name, _ in THREE:
            assert name in shown.text
        assert shown.buttons
        assert await world.messages(world.other) == []

    async def test_a_plain_post_has_no_buttons(self, world: World):
        """Given a card that the chat system refused; then its text says what waits, and names the review."""
        card = card_of(ask())

        ref = await world.channel.post_plain(world.room, card)

        (shown,) = await world.messages(world.room)
        assert shown.ref == ref
        assert short_id(card.review_id) in shown.text
        assert shown.buttons == ()

    @pytest.mark.parametrize("plain", [False, True])
    async def test_a_post_is_found_by_its_review(self, world: World, plain: bool):
        """Given messages of two reviews, then each is found by its id, and an unknown id finds nothing."""
        first, second = card_of(ask()), card_of(ask("other-agent"))
        since = world.now
        post = world.channel.post_plain if plain else world.channel.post
        refs = [await post(world.room, card) for card in (first, second)]

        found = [
            await world.channel.find_messages(world.room, card.review_id, since)
            for card in (first, second)
        ]

        assert found == [[refs[0]], [refs[1]]]
        assert await world.channel.find_messages(world.room, f"0-{'a' * 32}", since) == []

    async def test_the_oldest_message_is_found_first(self, world: World):
        card, since = card_of(ask()), world.now
        refs = [await world.channel.post(world.room, card) for _ in range(3)]
        assert await world.channel.find_messages(world.room, card.review_id, since) == refs

    async def test_a_message_from_before_is_not_found(self, world: World):
        """Given a message of now, and a search for messages since an hour later, then it is not found."""
        card = card_of(ask())
        await world.channel.post(world.room, card)
        later = world.now + HOUR
        assert await world.channel.find_messages(world.room, card.review_id, later) == []

    async def test_two_places_may_share_one_conversation(self, world: World):
        """Given two names of one conversation, then a card at one of them is not found at the other."""
        channel, card, since = world.channel, card_of(ask()), world.now
        room = await channel.conversation_id(world.room)
        assert room == await channel.conversation_id(world.alias)
        assert room != await channel.conversation_id(world.other)

        ref = await channel.post(world.room, card)
        twin = await channel.post(world.alias, card)

        assert ref.conversation == twin.conversation
        assert await channel.find_messages(world.room, card.review_id, since) == [ref]
        assert await channel.find_messages(world.alias, card.review_id, since) == [twin]
        assert await channel.find_messages(world.other, card.review_id, since) == []

    async def test_a_message_that_another_app_posted_is_not_ours(self, world: World):
        """Given another app that copies our message, with what we find it by; then only ours is found."""
        card, since = card_of(ask()), world.now
        ref = await world.channel.post(world.room, card)
        await world.forge(ref)
        assert len(await world.messages(world.room)) == 2
        assert await world.channel.find_messages(world.room, card.review_id, since) == [ref]

    async def test_a_search_waits_when_it_is_limited(self, world: World):
        """Given a chat system that limits us twice, then the search continues and finds the message."""
        card, since = card_of(ask()), world.now
        ref = await world.channel.post(world.room, card)
        world.fail("limited", times=2)
        assert await world.channel.find_messages(world.room, card.review_id, since) == [ref]

    async def test_promise_4_a_lost_answer_is_found_and_not_posted_twice(self, world: World):
        """Given a post whose answer is lost; then it is not known whether it succeeded; and it is found."""
        card, since = card_of(ask()), world.now
        world.fail("lost", times=1)
        with pytest.raises(Unreachable):
            await world.channel.post(world.room, card)

        (shown,) = await world.messages(world.room)
        assert await world.channel.find_messages(world.room, card.review_id, since) == [shown.ref]

    async def test_a_limited_post_had_no_effect(self, world: World):
        """Given a chat system that limits our rate, then we learn for how long, and nothing was posted."""
        world.fail("limited", times=1)
        with pytest.raises(RateLimited) as limited:
            await world.channel.post(world.room, card_of(ask()))
        assert 0 < limited.value.pause() < HOUR
        assert await world.messages(world.room) == []

    async def test_an_update_changes_the_message_and_nothing_else(self, world: World):
        """Given a card whose first action was rejected, when it is updated, then people see that in the same
        message, and it is found as before."""
        review, since = ask(), world.now
        ref = await world.channel.post(world.room, card_of(review))
        after = card_of(decide(review, "1", "reject", message="Not on a Friday."))

        await world.channel.update(world.room, ref, after)

        (shown,) = await world.messages(world.room)
        assert shown.ref == ref
        assert world.spelling("Not on a Friday.") in shown.text
        assert await world.channel.find_messages(world.room, review.id, since) == [ref]

    async def test_a_message_that_is_gone_can_not_be_updated(self, world: World):
        card = card_of(ask())
        ref = await world.channel.post(world.room, card)
        await world.remove(ref)
        with pytest.raises(MessageGone):
            await world.channel.update(world.room, ref, card)
        assert await world.messages(world.room) == []

    async def test_a_deleted_message_is_gone_for_everybody(self, world: World):
        """Given a message that is deleted twice, then it is gone, is not found, and the other one stays."""
        card, since = card_of(ask()), world.now
        ref, kept = [await world.channel.post(world.room, card) for _ in range(2)]

        await world.channel.delete(world.room, ref)
        await world.channel.delete(world.room, ref)

        assert [shown.ref for shown in await world.messages(world.room)] == [kept]
        assert await world.channel.find_messages(world.room, card.review_id, since) == [kept]

    async def test_a_reply_is_in_the_thread_of_its_message(self, world: World):
        """Given a rejection; then its line is below the card, and is not found as a card."""
        review, since = ask(), world.now
        review = decide(review, "1", "reject", message="Not on a Friday.")
        lines = thread_lines(review, DEFAULT)
        ref = await world.channel.post(world.room, card_of(review))
        assert lines

        for line in lines:
            await world.channel.reply(world.room, ref, line)

        (shown,) = await world.messages(world.room)
        assert len(shown.thread) == len(lines)
        assert world.spelling("Not on a Friday.") in shown.thread[0]
        assert await world.channel.find_messages(world.room, review.id, since) == [ref]

    async def test_a_reply_below_a_deleted_message_is_no_message_of_the_room(self, world: World):
        """Given a card whose message somebody deleted; when a line is posted below it, then the room has no
        message."""
        review = decide(ask(), "1", "reject", message="Not on a Friday.")
        ref = await world.channel.post(world.room, card_of(review))
        await world.remove(ref)
        for line in thread_lines(review, DEFAULT):
            with suppress(MessageGone):
                await world.channel.reply(world.room, ref, line)
        assert await world.messages(world.room) == []

    async def test_a_person_gets_a_message_of_their_own(self, world: World):
        """Given a person's place, then the card is in a conversation of their own, and is found there."""
        card, since = card_of(ask()), world.now
        ref = await world.channel.post(world.direct, card)
        assert [shown.ref for shown in await world.messages(world.direct)] == [ref]
        assert await world.messages(world.room) == []
        assert await world.channel.find_messages(world.direct, card.review_id, since) == [ref]
