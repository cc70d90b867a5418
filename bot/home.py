"""What one person's Home shows: what waits for them, what waits for others, what they decided."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from bot.card import Card, card
from bot.channel import Channel
from bot.directory import MAX_AGE, Directory
from bot.lookups import Lookups
from hitl_core.errors import Refused, ReviewNotFound
from hitl_core.model import Action, MessageRef, Review, Reviewer, Snapshot
from hitl_core.review import transitions
from hitl_core.review.service import Reviews

#: How many reviews one page lists; how many lines the other two parts have.
PAGE = 5
LINES = 5


@dataclass(frozen=True)
class Task:
    """A review that waits for this person, as its card shows it, and the actions that they may decide."""

    review: Review
    card: Card
    keys: tuple[str, ...]
    ref: MessageRef | None


@dataclass(frozen=True)
class Line:
    """A review of which there is nothing to do here: its card says what became of it."""

    card: Card
    at: float
    ref: MessageRef | None


@dataclass(frozen=True)
class Home:
    """`total` counts what waits, on all pages; it may hold some that only others can decide by now."""

    mine: tuple[Task, ...]
    others: tuple[Line, ...]
    decided: tuple[Line, ...]
    page: int
    pages: int
    total: int


class Homes:
    """Makes them: by the index of who is asked, and then by whether this person may decide indeed."""

    def __init__(self, reviews: Reviews, channel: Channel, directory: Directory) -> None:
        self._reviews, self._directory = reviews, directory
        self._audiences = Lookups(channel.audiences)

    async def of(self, who: Reviewer, page: int = 0) -> Home:
        """Raises ChannelError, StoreUnavailable."""
        store = self._reviews.store
        audiences = await self._audiences.get(who.id, MAX_AGE)
        waiting = await store.waiting(audiences, PAGE, page * PAGE)
        if page and not waiting.found:
            return await self.of(who)
        asked = await store.waiting({f"requester:{who.id}", f"requester:slack:{who.id}"}, LINES)
        decided = await store.decided(who.key, LINES)
        pages = max(1, -(-waiting.total // PAGE))
        found = await self._loaded([one for one, _ in waiting.found])
        tasks = [(one, await self._keys(who, one)) for one in found]
        listed = {one.review.id for one in found}
        mine = tuple(_task(one, keys) for one, keys in tasks if keys)
        others = [_line(one, one.review.created_at) for one, keys in tasks if not keys]
        others += [
            _line(one, one.review.created_at)
            for one in await self._loaded([one for one, _ in asked.found])
            if one.review.id not in listed
        ]
        times = dict(decided)
        done = await self._loaded(times)
        return Home(
            mine,
            tuple(others[:LINES]),
            tuple(_line(one, times[one.review.id]) for one in done),
            page,
            pages,
            waiting.total,
        )

    async def _loaded(self, ids: Iterable[str]) -> list[Snapshot]:
        """Those that are still kept and can be read."""

        async def load(review_id: str) -> Snapshot | None:
            try:
                return await self._reviews.load(review_id)
            except ReviewNotFound:
                return None

        found = await asyncio.gather(*map(load, ids))
        return [one for one in found if one is not None]

    async def _keys(self, who: Reviewer, snapshot: Snapshot) -> tuple[str, ...]:
        """The actions on which this person's word is wanted."""
        actions = [action for action in snapshot.review.actions if action.pending]
        return tuple([a.key for a in actions if await self._wanted(who, snapshot, a)])

    async def _wanted(self, who: Reviewer, snapshot: Snapshot, action: Action) -> bool:
        review = snapshot.review
        try:
            transitions.check_open(review, action, action.revision, snapshot.now)
            transitions.check_voter(review, action, "approve", who)
            await self._directory.check(who, snapshot, action.grants)
        except Refused:
            return False
        return True


def _task(snapshot: Snapshot, keys: tuple[str, ...]) -> Task:
    review = snapshot.review
    drawn, ref = _drawn(snapshot)
    return Task(review, drawn, keys, ref)


def _line(snapshot: Snapshot, at: float) -> Line:
    drawn, ref = _drawn(snapshot)
    return Line(drawn, at, ref)


def _drawn(snapshot: Snapshot) -> tuple[Card, MessageRef | None]:
    """Its card at the first of its places, and where that one is posted."""
    places = snapshot.review.places
    place = next((one for one in places if one in snapshot.posts), places[0])
    return card(snapshot.review, place, snapshot.posts), snapshot.posts.get(place)
