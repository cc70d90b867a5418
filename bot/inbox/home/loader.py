"""Loads one person's Home: the reviews that wait for them, that wait for others, and that they decided."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

from hitl_core.errors import HitlError, ReviewNotFound, ReviewUnreadable
from hitl_core.model import DEFAULT_PLACE, Call, MessageRef, Reviewer, Snapshot
from hitl_core.review import Reviews

from ...card import Card, build_card
from ...channels.contract import ChannelError
from ...channels.registry import Channels
from ...logs import trace_of
from ...offload import offload_drawing
from ...people import Directory
from ..reply import PermittedSnapshot
from .home import Home, HomeLine, HomeTask
from .index import HomeIndex
from .permissions import HomePermissions, PermissionUnknown
from .views import HomeViews

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Reviews of each part on one page.
PAGE_SIZE = 5


class HomeLoader:
    """Loads Homes: finds candidates in the store's index of audiences, then checks each permission."""

    def __init__(self, reviews: Reviews, channels: Channels, directory: Directory) -> None:
        self._reviews, self._directory = reviews, directory
        self._permissions = HomePermissions(directory)
        self._index = HomeIndex(reviews, channels, directory, self._permissions)
        self.views = HomeViews(reviews.store)

    async def load_home(
        self, who: Reviewer, page: int = 0, seen: PermittedSnapshot | None = None
    ) -> Home:
        """This page, or the last one if there are fewer. `seen`: a review that the same click has loaded; it
        is not loaded again. Raises ChannelError, StoreUnavailable.
        """
        mine, others, past_decisions, more, missing = await self._index.find(who)
        pages = max(1, *(-(-len(part) // PAGE_SIZE) for part in (mine, others, past_decisions)))
        page = max(0, min(page, pages - 1))
        here = slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)
        times, unreadable = dict(past_decisions[here]), set[str]()

        async def draw_task(one: Snapshot) -> HomeTask | HomeLine:
            try:
                return await self._home_task(who, one)
            except PermissionUnknown:
                return await self._unknown_line(one)

        async def draw_waiting(one: Snapshot) -> HomeLine:
            return await self._home_line(who, one, one.review.created_at)

        async def draw_decided(one: Snapshot) -> HomeLine:
            return await self._home_line(who, one, times[one.review.id])

        drawn = await self._draw_each(mine[here], seen, unreadable, draw_task)
        tasks = [one for one in drawn if isinstance(one, HomeTask)]
        unsure = [one for one in drawn if isinstance(one, HomeLine)]
        wanted = tuple(task for task in tasks if task.keys or task.doubts)
        waits = unsure + await self._draw_each(others[here], seen, unreadable, draw_waiting)
        done = await self._draw_each(times, seen, unreadable, draw_decided)
        count = len(wanted) if unsure else len(mine) - len(tasks) + len(wanted)
        lines = (wanted, tuple(waits), tuple(done))
        is_unsure = missing or bool(unsure)
        return Home(*lines, page, pages, count, more, is_unsure, len(unreadable), missing)

    async def find_review_id(self, who: Reviewer, prefix: str) -> str:
        """See `HomeIndex.find_review_id`."""
        return await self._index.find_review_id(who, prefix)

    async def _draw_each(
        self,
        ids: Iterable[str],
        seen: Snapshot | None,
        unreadable: set[str],
        draw: Callable[[Snapshot], Awaitable[T]],
    ) -> list[T]:
        """These reviews, drawn. Those that can't be read or drawn are added to `unreadable`: one damaged
        review must not hide the others.
        """
        drawn = list[T]()
        async for one in self._load_reviews(ids, seen, unreadable):
            try:
                drawn.append(await draw(one))
            except (HitlError, ChannelError):
                raise
            except Exception as error:
                log.error("review %s can't be drawn: %s", one.review.id, trace_of(error))
                unreadable.add(one.review.id)
        return drawn

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
        keys, doubts, is_unsure = await self._permissions.open_keys(who, snapshot)
        review = snapshot.review
        theirs = [call for call in review.calls if call.key in (*keys, *doubts)]
        home_card, ref = await self._draw_card(who, snapshot, theirs)
        return HomeTask(review, home_card, keys, doubts, ref, is_unsure)

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
        """The card of these calls, wherever they are shown, and a message of it that this person can read."""
        review, posts = snapshot.review, snapshot.posts
        calls = tuple(theirs)
        keys = frozenset(call.key for call in calls)
        places = list(dict.fromkeys(place for call in calls for place in review.places_of(call)))
        shown = await self._directory.find_readable(who, snapshot, places)
        place = shown.base if shown else [*places, *review.places, DEFAULT_PLACE][0]
        ref = posts[shown] if shown else None
        return await offload_drawing(
            review, lambda: build_card(review, place, posts, held=snapshot.held, keys=keys)
        ), ref
