"""Loads one person's Home: the reviews that wait for them, that wait for others, and that they decided."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence

from hitl_core.errors import Refused, ReviewNotFound, ReviewUnreadable
from hitl_core.model import (
    DEFAULT_PLACE,
    Call,
    MessageRef,
    Place,
    Reviewer,
    Snapshot,
    is_id_prefix,
    is_review_id,
)
from hitl_core.review import Reviews
from hitl_core.store import MAX_DECIDED, WaitingPage

from ..card import Card, build_card
from ..channels.registry import Channels
from ..offload import offload_drawing
from ..people import MAX_AGE, Cache, Directory
from .home import Home, HomeLine, HomePermissions, HomeTask, HomeViews, PermissionUnknown
from .reply import PermittedSnapshot

log = logging.getLogger(__name__)

#: Reviews of each part on one page.
PAGE_SIZE = 5
#: The most waiting reviews that are checked, because nobody opens more pages.
MAX_WAITING = 1000
#: The most of them that are loaded only to see whether they wait for this person. Reviews after these are not
#: counted.
MAX_CHECKED = 200
#: Reviews that are loaded at the same time.
CONCURRENCY = 4


class HomeLoader:
    """Loads Homes: finds candidates in the store's index of audiences, then checks each permission."""

    def __init__(self, reviews: Reviews, channels: Channels, directory: Directory) -> None:
        self._reviews, self._channels, self._directory = reviews, channels, directory
        self._permissions = HomePermissions(directory)
        self.views = HomeViews(reviews.store)
        self._audiences = {channel.name: Cache(channel.audiences) for channel in channels}

    async def load_home(
        self, who: Reviewer, page: int = 0, seen: PermittedSnapshot | None = None
    ) -> Home:
        """This page, or the last one if there are fewer. `seen`: a review that the same click has loaded; it
        is not loaded again. Raises ChannelError, StoreUnavailable.
        """
        waiting = await self._waiting(await self._audience_keys(who))
        own_requests = await self._waiting({f"requester:{key}" for key in who.keys})
        past_decisions = await self._past_decisions(who)
        mine, others, more = await self._split_waiting(
            who,
            [one for one, _ in waiting.reviews],
            [one for one, _ in own_requests.reviews],
            {one for one, _ in past_decisions},
        )
        pages = max(1, *(-(-len(part) // PAGE_SIZE) for part in (mine, others, past_decisions)))
        page = max(0, min(page, pages - 1))
        here = slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)
        tasks, unsure, unreadable = list[HomeTask](), list[HomeLine](), set[str]()
        async for one in self._load_reviews(mine[here], seen, unreadable):
            try:
                tasks.append(await self._home_task(who, one))
            except PermissionUnknown:
                unsure.append(await self._unknown_line(one))
        wanted = tuple(task for task in tasks if task.keys or task.doubts)
        waits = unsure + [
            await self._home_line(who, one, one.review.created_at)
            async for one in self._load_reviews(others[here], seen, unreadable)
        ]
        times = dict(past_decisions[here])
        done = [
            await self._home_line(who, one, times[one.review.id])
            async for one in self._load_reviews(times, seen, unreadable)
        ]
        count = len(mine) - len(tasks) - len(unsure) + len(wanted)
        more = more or waiting.total > len(waiting.reviews)
        lines = (wanted, tuple(waits), tuple(done))
        return Home(*lines, page, pages, count, more, len(unreadable))

    async def find_review_id(self, who: Reviewer, prefix: str) -> str:
        """The full id of a review by its first characters. The person must be concerned: the review waits for
        them, they requested it, or they voted on it. Raises Refused, ChannelError, StoreUnavailable.
        """
        prefix = prefix.strip().lower()
        if is_review_id(prefix):
            return prefix
        if not is_id_prefix(prefix):
            like = "An id looks like 0-93b4c7d2: at least four characters after the dash."
            raise Refused("no_id", f"{prefix!r} is not a review id. {like}")
        own = {f"requester:{key}" for key in who.keys}
        waiting = await self._waiting(await self._audience_keys(who) | own)
        theirs = [*waiting.reviews, *await self._past_decisions(who)]
        matches = {one for one, _ in theirs if one.startswith(prefix)}
        if len(matches) > 1:
            sentence = f"{len(matches)} of your reviews begin with {prefix}: give more characters of the id."
            raise Refused("ambiguous", sentence)
        if not matches:
            sentence = (
                f"No review that waits for you, or that you decided, begins with {prefix}."
                f" Give the whole id: `hitl reviews show {prefix}` prints it."
            )
            raise Refused("gone", sentence)
        return matches.pop()

    async def _waiting(self, audiences: set[str]) -> WaitingPage:
        """The reviews that wait for these audiences. If a reply of Redis is lost, it is asked again."""
        store = self._reviews.store
        return await self._reviews.with_retry(lambda: store.waiting_reviews(audiences, MAX_WAITING))

    async def _past_decisions(self, who: Reviewer) -> list[tuple[str, float]]:
        store = self._reviews.store
        return await self._reviews.with_retry(lambda: store.recent_decisions(who.key, MAX_DECIDED))

    async def _audience_keys(self, who: Reviewer) -> set[str]:
        """The index entries for all identities of this person; for guests and external people only their
        id.
        """
        keys = set[str]()
        for lookups, id in self._directory.identities(who):
            if await lookups.is_member(id):
                keys |= await self._audiences[lookups.channel.name].get(id, MAX_AGE)
            else:
                keys |= {f"user:{id}", f"user:{lookups.channel.name}:{id}"}
        return keys

    async def _split_waiting(
        self,
        who: Reviewer,
        waiting: Sequence[str],
        own_requests: Sequence[str],
        past_decisions: set[str],
    ) -> tuple[list[str], list[str], bool]:
        """The reviews that wait for this person, those that wait only for others, and whether there may be
        more. Usually the index is enough; a review is loaded if this person requested it or has already
        voted. At most MAX_CHECKED are loaded, and the list ends before the next one.
        """
        unsure = past_decisions.union(own_requests)
        places = [place for place, one in enumerate(waiting) if one in unsure]
        end = places[MAX_CHECKED] if len(places) > MAX_CHECKED else len(waiting)
        waiting, unread = waiting[:end], set(waiting[end:])
        unclear = [waiting[place] for place in places[:MAX_CHECKED]]
        unwanted = await self._find_unwanted(who, unclear)
        mine = [one for one in waiting if one not in unwanted]
        known = unread.union(mine)
        others = [one for one in dict.fromkeys([*waiting, *own_requests]) if one not in known]
        return mine, others, bool(unread)

    async def _find_unwanted(self, who: Reviewer, ids: Iterable[str]) -> set[str]:
        """The reviews that don't wait for this person. Only a few are loaded at a time, without their
        arguments, because an agent chooses their number and size.
        """
        limit = asyncio.Semaphore(CONCURRENCY)

        async def is_unwanted(review_id: str) -> bool:
            async with limit:
                try:
                    snapshot = await self._reviews.load_outline(review_id)
                except (ReviewNotFound, ReviewUnreadable):
                    return False
                return not await self._permissions.may_need_decision(who, snapshot)

        ids = list(ids)
        answers = await asyncio.gather(*map(is_unwanted, ids))
        return {one for one, unwanted in zip(ids, answers, strict=True) if unwanted}

    async def _load_reviews(
        self, ids: Iterable[str], seen: Snapshot | None, unreadable: set[str]
    ) -> AsyncIterator[Snapshot]:
        """The reviews that still exist, one by one. Unreadable ones are added to `unreadable`."""
        for review_id in ids:
            if seen is not None and seen.review.id == review_id:
                yield seen
                continue
            try:
                yield await self._reviews.load(review_id)
            except ReviewNotFound:
                continue
            except ReviewUnreadable as error:
                log.warning("%s", error)
                unreadable.add(review_id)

    async def _unknown_line(self, snapshot: Snapshot) -> HomeLine:
        """A line without the review's content, because this person may not be allowed to see it."""
        review, posts = snapshot.review, snapshot.posts
        home_card = await offload_drawing(
            review, lambda: build_card(review, review.places[0], posts, held=snapshot.held)
        )
        return HomeLine(home_card, review.created_at, None, frozenset(), is_unknown=True)

    async def _home_task(self, who: Reviewer, snapshot: Snapshot) -> HomeTask:
        keys, doubts = await self._permissions.open_keys(who, snapshot)
        review = snapshot.review
        theirs = [call for call in review.calls if call.key in (*keys, *doubts)]
        home_card, ref = await self._draw_card(who, snapshot, theirs)
        return HomeTask(review, home_card, tuple(keys), tuple(doubts), ref)

    async def _home_line(self, who: Reviewer, snapshot: Snapshot, at: float) -> HomeLine:
        review = snapshot.review
        asked = review.calls_asked_about
        calls = [call for call in review.calls if review.action(call.key) or call in asked]
        try:
            theirs = [
                c
                for c in calls
                if await self._permissions.can_decide(who, snapshot, review.grants_of(c))
            ]
        except PermissionUnknown:
            theirs = []
        home_card, ref = await self._draw_card(who, snapshot, theirs)
        return HomeLine(home_card, at, ref, frozenset(call.key for call in theirs))

    async def _draw_card(
        self, who: Reviewer, snapshot: Snapshot, theirs: Iterable[Call]
    ) -> tuple[Card, MessageRef | None]:
        """The card at a place of one of these calls, and its message: this person's own, or a
        conversation's.
        """
        review, posts = snapshot.review, snapshot.posts
        places = list(dict.fromkeys(place for call in theirs for place in review.places_of(call)))
        messages: list[tuple[Place, MessageRef]] = []
        for place in places:
            if (mine := posts.get(place.for_member(who.id))) is not None:
                messages.insert(0, (place, mine))
            audience = self._channels.audience(place)
            ref = posts.get(place)
            if audience is None or ref is None or ref.channel != who.channel:
                continue
            if audience.kind == "conversation" or audience.id == who.id:
                messages.append((place, ref))
        place, ref = (
            messages[0] if messages else ([*places, *review.places, DEFAULT_PLACE][0], None)
        )
        return await offload_drawing(
            review, lambda: build_card(review, place, posts, held=snapshot.held)
        ), ref
