"""Look-ups of people, groups, conversations and places. Each answer is yes, no or unknown."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import build_card
from bot.channels.contract import NotFound
from hitl_core.model import DEFAULT_PLACE, Place, Review
from tests.channels.contract.world import World
from tests.channels.scenes import THREE, review_of

NAMES = ("#general", "@everyone", "default", "<!channel>", "*Bob*", "“Ann” (U1)", " ")


def review_at(*places: Place, **reviewers: Any) -> Review:
    """Without places, one at DEFAULT_PLACE."""
    policy: dict[str, Any] = {"escalate": []}
    if places:
        policy["notify"] = list(places)
    if reviewers:
        policy["reviewers"] = reviewers
    return review_of(*THREE, policy=policy, requester=None)


class Lookups:
    @pytest.mark.parametrize("kind", ["member", "guest", "external", "bot"])
    async def test_a_person_is_of_one_kind(self, world: World, kind: Any):
        """Given somebody of each kind that this chat system has, then the channel says which it is."""
        if kind not in world.people:
            return
        person = await world.channel.person(world.people[kind])
        assert person is not None
        assert (person.id, person.kind, person.active) == (world.people[kind], kind, True)
        assert person.name

    async def test_a_person_who_left_is_not_active(self, world: World):
        person = await world.channel.person(world.people["left"])
        assert person is not None
        assert not person.active

    @pytest.mark.parametrize("id", ["U0NOBODY", "nobody", " ", "*", "../x", "a b", "ü"])
    async def test_there_is_no_such_person(self, world: World, id: str):
        assert await world.channel.person(id) is None

    async def test_a_group_has_members(self, world: World):
        assert world.outsider in await world.channel.group_members(world.group_id)
        assert world.member not in await world.channel.group_members(world.group_id)

    @pytest.mark.parametrize("id", ["S0NONE", "none", "*"])
    async def test_no_such_group_has_no_members(self, world: World, id: str):
        assert await world.channel.group_members(id) == frozenset()

    async def test_a_conversation_has_members_and_a_size(self, world: World):
        """Given a conversation; then its members are its people, and its size counts the bot as well."""
        conversation = await world.channel.conversation_id(world.room)
        members = await world.channel.conversation_members(conversation)
        assert world.member in members
        assert world.outsider not in members
        assert await world.channel.conversation_size(world.room) >= len(members)

    async def test_the_audience_of_a_place_is_in_its_name(self, world: World):
        """Given places, then who is reached needs no look-up."""
        world.fail("down")
        channel = world.channel
        assert channel.audience(world.room).kind == "conversation"
        assert channel.audience(world.direct) == ("person", world.member)
        assert channel.audience(world.group) == ("group", world.group_id)
        copy = world.group.for_member(world.outsider)
        assert channel.audience(copy) == ("person", world.outsider)
        assert channel.audience(DEFAULT_PLACE).kind == "conversation"

    async def test_a_group_has_no_conversation_of_its_own(self, world: World):
        """Each member gets an own message, at the place of their copy."""
        with pytest.raises(NotFound):
            await world.channel.conversation_id(world.group)
        copy = world.group.for_member(world.outsider)
        card, since = build_card(review_at(world.group), world.group), world.now
        ref = await world.channel.post(copy, card)
        assert await world.channel.find_messages(copy, card.review_id, since) == [ref]

    async def test_a_usable_place_is_usable(self, world: World):
        for place in (world.room, world.alias, world.direct, world.group, DEFAULT_PLACE):
            await world.channel.check_place(place)

    async def test_an_unusable_place_says_why(self, world: World):
        """Given places at which nothing can be shown, then the check says so, each with its reason."""
        for why, place in world.unusable.items():
            with pytest.raises(NotFound, match=why):
                await world.channel.check_place(place)

    async def test_a_post_to_an_unusable_place_is_not_found(self, world: World):
        """Given places at which nothing can be shown, then a post finds out the same."""
        for place in world.unusable.values():
            with pytest.raises(NotFound):
                await world.channel.post(place, build_card(review_at(), DEFAULT_PLACE))

    async def test_a_place_has_a_name_for_people(self, world: World):
        """Given places, looked up or not, usable or not, then each has a name, and none is an error."""
        places = [world.room, world.alias, world.other, world.direct, world.group, DEFAULT_PLACE]
        for place in (*places, *world.unusable.values()):
            assert world.channel.name_of(place).strip()

    async def test_what_waits_for_a_person_is_in_their_audiences(self, world: World):
        """Given reviews for a conversation, a person, a group and a named reviewer; then the people whom they
        wait for find them by an audience, and others don't."""
        member = await world.channel.audiences(world.member)
        outsider = await world.channel.audiences(world.outsider)
        for review in (
            review_at(world.room),
            review_at(world.alias),
            review_at(),
            review_at(world.direct),
            review_at(world.other, users=[world.named(world.member)]),
        ):
            assert review.audiences & member
            assert not review.audiences & outsider
        for review in (
            review_at(world.other),
            review_at(world.group),
            review_at(world.room, groups=[world.named(world.group_id)]),
        ):
            assert review.audiences & outsider
            assert not review.audiences & member

    @pytest.mark.parametrize("name", NAMES)
    async def test_a_name_is_never_an_address(self, world: World, name: str):
        """Given a person who takes the name of a place; then places lead where they
        led, and have their names."""
        channel = world.channel
        places = (world.room, world.alias, world.other, world.direct)
        before = [await channel.conversation_id(place) for place in places]
        labels = [channel.name_of(place) for place in places[:3]]
        for taken in (name, *labels, *map(str, places)):
            world.rename(world.outsider, taken)
            person = await channel.person(world.outsider)
            assert person is not None
            assert person.id == world.outsider
            assert [await channel.conversation_id(place) for place in places] == before
            assert [channel.name_of(place) for place in places[:3]] == labels
