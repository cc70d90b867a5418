"""What one person's Home shows: what waits for them, what waits for others, what they decided."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.apart import apart
from bot.card import Card, card
from bot.channel import Channel, copy_for
from bot.directory import MAX_AGE, Directory
from bot.lookups import Lookups
from hitl_core.errors import Refused, ReviewNotFound
from hitl_core.model import Action, Call, Grant, MessageRef, Place, Review, Reviewer, Snapshot
from hitl_core.model.review import is_short, is_whole
from hitl_core.review import transitions
from hitl_core.review.service import Reviews
from hitl_core.store.base import DECIDED

#: How many reviews of each part one page lists.
PAGE = 5
#: How many that wait are told apart at most. Nobody turns so many pages.
MOST = 1000
#: How many are read at once.
AT_ONCE = 16


@dataclass(frozen=True)
class Task:
    """A review that waits for this person, as its card shows it: the actions that they may decide, and the
    calls in doubt of which they may say what became.
    """

    review: Review
    card: Card
    keys: tuple[str, ...]
    doubts: tuple[str, ...]
    ref: MessageRef | None


@dataclass(frozen=True)
class Line:
    """A review of which there is nothing to do here: its card says what became of it. `may_see`: what it is
    about is this person's to know. `unknown`: why nobody can tell at the moment whether they may decide.
    """

    card: Card
    at: float
    ref: MessageRef | None
    may_see: bool
    unknown: str | None = None


@dataclass(frozen=True)
class Home:
    """One page, of `pages` from 0. `total` counts what waits for this person on all of them; `more`: there is
    more than was counted.
    """

    mine: tuple[Task, ...]
    others: tuple[Line, ...]
    decided: tuple[Line, ...]
    page: int
    pages: int
    total: int
    more: bool


class Unknown(Exception):
    """Nobody can tell at the moment whether this person may decide; the text is a sentence."""


class Homes:
    """Makes them: by the index of who is asked, and then by whether this person may decide indeed."""

    def __init__(self, reviews: Reviews, channel: Channel, directory: Directory) -> None:
        self._reviews, self._channel, self._directory = reviews, channel, directory
        self._audiences = Lookups(channel.audiences)

    async def of(self, who: Reviewer, page: int = 0) -> Home:
        """The last page where there are fewer. Raises ChannelError, StoreUnavailable."""
        store = self._reviews.store
        found = await store.waiting(await self._asked_as(who), MOST)
        asking = await store.waiting({f"requester:{who.id}", f"requester:slack:{who.id}"}, MOST)
        said = await store.decided(who.key, DECIDED)
        mine, others = await self._told_apart(
            who,
            [one for one, _ in found.found],
            [one for one, _ in asking.found],
            {one for one, _ in said},
        )
        pages = max(1, *(-(-len(part) // PAGE) for part in (mine, others, said)))
        page = max(0, min(page, pages - 1))
        here = slice(page * PAGE, (page + 1) * PAGE)
        tasks, unsure = list[Task](), list[Line]()
        for one in await self._loaded(mine[here]):
            try:
                tasks.append(await self._task(who, one))
            except Unknown as unknown:
                unsure.append(await self._unsure(one, str(unknown)))
        wanted = tuple(task for task in tasks if task.keys or task.doubts)
        waits = unsure + [
            await self._line(who, one, one.review.created_at)
            for one in await self._loaded(others[here])
        ]
        times = dict(said[here])
        done = [
            await self._line(who, one, times[one.review.id]) for one in await self._loaded(times)
        ]
        count = len(mine) - len(tasks) - len(unsure) + len(wanted)
        more = found.total > len(found.found)
        return Home(wanted, tuple(waits), tuple(done), page, pages, count, more)

    async def named(self, who: Reviewer, given: str) -> str:
        """The whole id of a review that somebody means, by a few digits of one that is theirs: it waits for
        them, they asked for it, or had a say in it. Raises Refused, ChannelError, StoreUnavailable.
        """
        given = given.strip().lower()
        if is_whole(given):
            return given
        if not is_short(given):
            like = "An id looks like 0-93b4c7d2: at least four characters after the dash."
            raise Refused("no_id", f"{given!r} is no review's id. {like}")
        store, own = self._reviews.store, {f"requester:{who.id}", f"requester:slack:{who.id}"}
        waiting = await store.waiting(await self._asked_as(who) | own, MOST)
        theirs = [*waiting.found, *await store.decided(who.key, DECIDED)]
        found = {one for one, _ in theirs if one.startswith(given)}
        if len(found) > 1:
            told = f"{len(found)} of your reviews begin with {given}: give more of the id."
            raise Refused("ambiguous", told)
        if not found:
            told = f"No review of yours begins with {given}. Give the whole id."
            raise Refused("gone", told)
        return found.pop()

    async def _asked_as(self, who: Reviewer) -> set[str]:
        """By what this person may be asked: guests and strangers by their name alone."""
        if not await self._directory.is_member(who.id):
            return {f"user:{who.id}"}
        return set(await self._audiences.get(who.id, MAX_AGE))

    async def _told_apart(
        self, who: Reviewer, found: Sequence[str], asking: Sequence[str], said: set[str]
    ) -> tuple[list[str], list[str]]:
        """What waits for this person, and for others only. The index tells that of most; where they asked for
        it themselves, or had a say already, the review does.
        """
        unsure = said.union(asking)
        unclear = [one for one in found if one in unsure]
        unwanted = {
            one.review.id
            for one in await self._loaded(unclear)
            if not await self._may_be_wanted(who, one)
        }
        mine = [one for one in found if one not in unwanted]
        theirs = set(mine)
        others = [one for one in dict.fromkeys([*found, *asking]) if one not in theirs]
        return mine, others

    async def _loaded(self, ids: Iterable[str]) -> list[Snapshot]:
        """Those that are still kept and can be read."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def load(review_id: str) -> Snapshot | None:
            async with turns:
                try:
                    return await self._reviews.load(review_id)
                except ReviewNotFound:
                    return None

        found = await asyncio.gather(*map(load, ids))
        return [one for one in found if one is not None]

    async def _wants(self, who: Reviewer, snapshot: Snapshot) -> tuple[list[str], list[str]]:
        """The actions on which this person's word is wanted, and the calls in doubt of which they may say
        what became, and have not. Raises Unknown where not all is known, and none of them surely is.
        """
        review = snapshot.review
        actions = [action for action in review.actions if action.pending]
        open_ = [
            call
            for call in review.doubts
            if all(vote.by.key != who.key for vote in review.runs[call.key].votes)
        ]
        keys, doubts, unknown = list[str](), list[str](), list[Unknown]()
        for action in actions:
            try:
                if await self._wanted(who, snapshot, action):
                    keys.append(action.key)
            except Unknown as error:
                unknown.append(error)
        for call in open_:
            try:
                if await self._may(who, snapshot, review.grants_of(call)):
                    doubts.append(call.key)
            except Unknown as error:
                unknown.append(error)
        if unknown and not (keys or doubts):
            raise unknown[0]
        return keys, doubts

    async def _may_be_wanted(self, who: Reviewer, snapshot: Snapshot) -> bool:
        """What is not known hides nothing."""
        try:
            return any(await self._wants(who, snapshot))
        except Unknown:
            return True

    async def _wanted(self, who: Reviewer, snapshot: Snapshot, action: Action) -> bool:
        review = snapshot.review
        if any(vote.by.key == who.key and vote.type != "reject" for vote in action.votes):
            return False
        try:
            transitions.check_open(review, action, action.revision, snapshot.now)
            transitions.check_voter(review, action, "approve", who)
        except Refused:
            return False
        return await self._may(who, snapshot, action.grants)

    async def _may(self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]) -> bool:
        """Raises Unknown."""
        try:
            await self._directory.check(who, snapshot, grants)
        except Refused as refused:
            if refused.code in ("unavailable", "unknown_members"):
                raise Unknown(str(refused)) from refused
            return False
        return True

    async def _unsure(self, snapshot: Snapshot, why: str) -> Line:
        """Nothing of what it is about is shown: it may not be theirs to know."""
        review, posts = snapshot.review, snapshot.posts
        drawn = await apart(review, lambda: card(review, review.places[0], posts))
        return Line(drawn, review.created_at, None, may_see=False, unknown=why)

    async def _task(self, who: Reviewer, snapshot: Snapshot) -> Task:
        keys, doubts = await self._wants(who, snapshot)
        review = snapshot.review
        theirs = [call for call in review.calls if call.key in (*keys, *doubts)]
        drawn, ref = await self._drawn(who, snapshot, theirs)
        return Task(review, drawn, tuple(keys), tuple(doubts), ref)

    async def _line(self, who: Reviewer, snapshot: Snapshot, at: float) -> Line:
        review = snapshot.review
        asked = [call for call in review.calls if review.action(call.key)]
        try:
            theirs = [c for c in asked if await self._may(who, snapshot, review.grants_of(c))]
        except Unknown:
            theirs = []
        drawn, ref = await self._drawn(who, snapshot, theirs)
        return Line(drawn, at, ref, may_see=bool(theirs))

    async def _drawn(
        self, who: Reviewer, snapshot: Snapshot, theirs: Iterable[Call]
    ) -> tuple[Card, MessageRef | None]:
        """The card as it stands where one of these calls does, and this person's message, or that of a
        conversation.
        """
        review, posts = snapshot.review, snapshot.posts
        places = list(dict.fromkeys(place for call in theirs for place in review.places_of(call)))
        found: list[tuple[Place, MessageRef]] = []
        for place in places:
            if (mine := posts.get(copy_for(place, who.id))) is not None:
                found.insert(0, (place, mine))
            audience = self._channel.audience(place)
            if place in posts and (audience.kind == "conversation" or audience.id == who.id):
                found.append((place, posts[place]))
        place, ref = found[0] if found else ([*places, *review.places][0], None)
        return await apart(review, lambda: card(review, place, posts)), ref
