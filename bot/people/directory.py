"""Checks who may decide: the people whom the policy names, or the members of the action's places."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

from hitl_core.errors import Refused
from hitl_core.model import (
    CLI,
    POLICY,
    DeliveryProblem,
    Grant,
    Place,
    Reviewer,
    Snapshot,
    split_id,
    storable_text,
)
from hitl_core.sentences import join_names

from .. import click_budget, refusals
from ..channels.contract import ChannelError
from .decider_pool import DeciderPool
from .lookups import Lookups
from .questions import answer_in_time, any_yes

log = logging.getLogger(__name__)


class Directory(DeciderPool):
    """Each channel judges its own people. A person of a channel that the bot doesn't have may decide nothing.
    `people` says which identities are one human: if one identity may decide, the human may decide with all of
    them, and counts once.
    """

    def is_external(self, who: Reviewer) -> bool:
        """Whether this person is of another workspace or tenant, or of a channel that the bot doesn't have.
        They may decide only if the policy names them. Otherwise they are told nothing, not even whether a
        review exists.
        """
        channel = self._channels.get(who.channel)
        return channel is None or who.team != channel.team

    async def check_can_decide(
        self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]
    ) -> None:
        """Raises Refused if no grant allows this person to decide, or if the look-up fails or is too slow."""
        grants = tuple(grants)
        if await answer_in_time(self._can_decide(who, snapshot, grants)):
            return
        if self.is_external(who):
            raise Refused("not_permitted", refusals.ONLY_MEMBERS)
        unposted = self._unposted_places(grants, snapshot)
        if None in unposted.values() and await answer_in_time(self._is_member(who)):
            raise Refused("unknown_members", refusals.STILL_RECORDED)
        text = await answer_in_time(self._refusal(who, grants, list(unposted)))
        raise Refused("not_permitted", text)

    async def _is_member(self, who: Reviewer) -> bool:
        """Whether this human can have rights as a member of a conversation or group; guests have none."""
        return await any_yes(partial(one.is_member, id) for one, id in self.identities(who))

    async def _refusal(
        self, who: Reviewer, grants: Sequence[Grant], unposted: Sequence[Place]
    ) -> str:
        lookups = self._lookups.get(who.channel)
        person = await lookups.person(who.id) if lookups else None
        is_guest = person is not None and person.kind == "guest"
        names, lost = await self.format_deciders(grants), map(self._channels.name_of, unposted)
        return refusals.may_not_decide(names, is_guest=is_guest, lost=join_names(lost))

    async def ineligible_voters(
        self, voters: Sequence[Reviewer], snapshot: Snapshot, grants: Iterable[Grant]
    ) -> frozenset[str]:
        """The keys of the voters who may no longer decide, or who are the same human as an earlier voter.
        Raises Refused if a look-up fails or is too slow.
        """
        grants = tuple(grants)

        async def find_ineligible() -> frozenset[str]:
            out, humans = set[str](), set[str]()
            for who in map(self.with_aliases, voters):
                is_new = humans.isdisjoint(who.keys)
                if not await self._can_decide(who, snapshot, grants) or not is_new:
                    out.add(who.key)
                else:
                    humans |= who.keys
            return frozenset(out)

        return await answer_in_time(find_ineligible())

    async def find_readable(
        self, who: Reviewer, snapshot: Snapshot, places: Sequence[Place]
    ) -> Place | None:
        """Of the messages at these places, one that this person can read: their own copy, else one in a
        conversation, if possible where they are known to be a member. Never one in another person's chat.
        """
        lookups, shared = self._lookups[who.channel], list[Place]()
        posts = [
            place
            for place, ref in snapshot.posts.items()
            if place.base in places and ref.channel == who.channel
        ]
        for place in sorted(posts, key=lambda one: places.index(one.base)):
            audience = lookups.channel.audience(place.base)
            if who.id in (place.member, audience.id):
                return place
            if audience.kind == "conversation":
                shared.append(place)
        if len(shared) > 1:
            for place in shared:
                with suppress(Refused):
                    if await answer_in_time(lookups.is_place_member(who.id, snapshot, place)):
                        return place
        return next(iter(shared), None)

    async def is_reached(self, who: Reviewer, snapshot: Snapshot, place: Place) -> bool:
        """Whether this place shows its card to this person, by any of their identities. False if that is
        unknown.
        """
        channel = self._channels.find(place)
        with suppress(Refused):
            for lookups, id in self.identities(who):
                if lookups.channel is channel and await answer_in_time(
                    lookups.is_place_member(id, snapshot, place)
                ):
                    return True
        return False

    async def load_reviewer(self, channel: str, user_id: str, team: str, name: str) -> Reviewer:
        """The person who clicked, with their display name (`name` if the look-up fails) and other
        identities. Only ids are used for permissions. A person of another workspace is external, whatever
        team the click says.
        """
        try:
            async with click_budget.timeout("name"):
                person = await self._lookups[channel].person(user_id)
            if person:
                name, own = person.name, self._lookups[channel].channel.team
                team = person.team_of(team, own)
        except (TimeoutError, ChannelError):
            log.info("the name of %s could not be looked up", user_id)
        who = Reviewer(channel=channel, team=team, id=user_id, name=storable_text(name))
        return self.with_aliases(who)

    def with_aliases(self, who: Reviewer) -> Reviewer:
        """The person, with the identities that they have now added to the recorded ones."""
        others = {*who.aliases, *self._people.keys_of(who.key)} - {who.key}
        aliases = tuple(sorted(others))
        return who if aliases == who.aliases else who.model_copy(update={"aliases": aliases})

    def identities(self, who: Reviewer) -> list[tuple[Lookups, str]]:
        """The person's identities in the bot's channels, the one that they use now first. An external person
        has only that one.
        """
        return self._identities(who, self.is_external(who))

    def _identities(self, who: Reviewer, is_external: bool) -> list[tuple[Lookups, str]]:
        found = list[tuple[Lookups, str]]()
        if (own := self._lookups.get(who.channel)) is not None:
            found.append((own, who.id))
        if is_external:
            return found
        own_key = who.key
        for key in sorted(self._people.keys_of(own_key) - {own_key}):
            channel, id = split_id(key)
            if (lookups := self._lookups.get(channel)) is not None:
                found.append((lookups, id))
        return found

    async def _can_decide(self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]) -> bool:
        """Whether this person may decide. Bots and deactivated people never may; guests and external people
        only if they are named; people of a channel that the bot doesn't have never. Raises ChannelError if no
        look-up says yes and one failed. A cached no is looked up again, because it may have changed.
        """
        if who.channel in (CLI, POLICY):
            return True  # a person with access to the store can write anything to it
        if who.channel not in self._lookups:
            return False
        given = who, snapshot, tuple(grants)
        return await self._has_right(*given) or await self._has_right(*given, is_fresh=True)

    async def _has_right(
        self, who: Reviewer, snapshot: Snapshot, grants: Sequence[Grant], *, is_fresh: bool = False
    ) -> bool:
        def now(lookups: Lookups) -> Lookups:
            return lookups.fresh if is_fresh else lookups

        person = await now(self._lookups[who.channel]).person(who.id)
        if person is None or not person.can_act:
            return False
        own = self._lookups[who.channel].channel.team
        is_external = person.team_of(who.team, own) != own
        return await any_yes(
            partial(self._may_decide_as, now(lookups), id, snapshot, grants, is_external)
            for lookups, id in self._identities(who, is_external)
        )

    async def _may_decide_as(
        self,
        lookups: Lookups,
        id: str,
        snapshot: Snapshot,
        grants: Sequence[Grant],
        is_external: bool,
    ) -> bool:
        """Whether one identity may decide, by the look-ups of its own channel."""
        person, name = await lookups.person(id), lookups.channel.name
        if person is None or not person.can_act:
            return False
        if any((name, id) == split_id(user) for grant in grants for user in grant.reviewers.users):
            return True
        if person.kind != "member" or is_external:
            return False
        groups = [split_id(group) for grant in grants for group in grant.reviewers.groups]
        places = [place for grant in grants if grant.includes_members for place in grant.places]
        return await any_yes(
            [
                *(partial(lookups.is_in_group, one, id) for at, one in groups if at == name),
                *(
                    partial(lookups.is_place_member, id, snapshot, place)
                    for place in places
                    if self._channels.find(place) is lookups.channel
                ),
            ]
        )

    def _unposted_places(
        self, grants: Iterable[Grant], snapshot: Snapshot
    ) -> dict[Place, DeliveryProblem | None]:
        """The conversations whose members may decide as soon as the card is posted there, and why it is not.
        The problems only count if other cards are there: then nobody waits for these.
        """
        places = {
            place
            for grant in grants
            if grant.includes_members
            for place in grant.places
            if (audience := self._channels.audience(place)) is not None
            and audience.kind == "conversation"
        }
        missing = sorted(places - snapshot.posts.keys())
        problems = snapshot.review.delivery_problems if len(missing) < len(places) else {}
        return {place: problems.get(place) for place in missing}
