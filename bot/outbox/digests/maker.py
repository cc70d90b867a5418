"""Moves first cards into digests, if too many wait in one lane."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from hitl_core.errors import safe_message
from hitl_core.model import Place, Snapshot
from hitl_core.review import Reviews
from hitl_core.store import MAX_DIGEST, OPEN_FOR, alone_mark

from ...channels.contract import Undeliverable
from ...channels.registry import Channels
from ...health import Health
from .reviews import first_due, is_plain, people_of, read_outlines

log = logging.getLogger(__name__)

#: How many cards are read at once; and how many cards of one agent are enough for a digest.
MAX_POSTS, MIN_REVIEWS = 500, 5
#: If no digest could be made, the next try is after this many seconds.
PAUSE = 5.0
#: The most cards for which it is remembered whether they may share a message, so that each review is read
#: only once.
MAX_KNOWN = 20_000


class _Group(NamedTuple):
    """Reviews that may share a message. `people`: see `people_of`. `minute` is set for reviews that are due
    before people get another notice: such a review only shares a new message of the same minute, because an
    old message notifies nobody.
    """

    place: Place
    agent: str
    people: str
    minute: str = ""


class _Known(NamedTuple):
    """The result of reading a review at one place. `due`: see `first_due`."""

    group: _Group
    due: float

    def group_at(self, now: float) -> _Group:
        if self.due - now > OPEN_FOR:
            return self.group
        return self.group._replace(minute=f"{now // 60:.0f}")


class DigestMaker:
    """`after`: how many first cards may wait in a lane before digests are made. 0: no digests."""

    def __init__(self, reviews: Reviews, channels: Channels, health: Health, after: int) -> None:
        self._health = health
        self._reviews, self._channels, self._after = reviews, channels, after
        self._next_try: dict[str, float] = {}
        self._groups: dict[tuple[str, Place], _Known | None] = {}

    async def gather(self, lane: str) -> None:
        """If more cards wait than the setting says, move those of the same agent, place and people into a
        digest. Never raises: without digests each review has its card.
        """
        if not self._after or self._next_try.get(lane, 0.0) > time.monotonic():
            return
        try:
            await self._gather(lane)
        except Exception as error:
            why = safe_message(error)
            log.warning("%s: cards can't be taken into a digest: %s", lane, why)
            text = (
                f"Cards for {lane} are shown one by one, because they can't share a message: {why}."
            )
            self._health.report("delivery", f"digests {lane}", text)
            self._next_try[lane] = time.monotonic() + PAUSE
        else:
            self._health.resolve("delivery", f"digests {lane}")

    async def _gather(self, lane: str) -> None:
        store, after = self._reviews.store, self._after
        if len(await store.first_posts(lane, after + 1)) <= after:
            self._next_try.pop(lane, None)
            return
        posts = await store.first_posts(lane, MAX_POSTS)
        now = await store.now()
        await self._look_at(posts, now)
        groups: dict[tuple[str, _Group], list[str]] = defaultdict(list)
        for review_id, place in posts:
            known = self._groups.get((review_id, place))
            if known is not None and not self._is_group(place):
                groups[review_id.partition("-")[0], known.group_at(now)].append(review_id)
        parts = [
            (key, ids[at : at + MAX_DIGEST])
            for key, ids in groups.items()
            for at in range(0, len(ids), MAX_DIGEST)
        ]
        found = [(key, ids) for key, ids in parts if len(ids) >= MIN_REVIEWS]
        taken = [
            await store.add_to_digest(lane, group.place, " ".join(group), group.agent, ids)
            for (_, group), ids in found
        ]
        if not any(taken):
            self._next_try[lane] = time.monotonic() + PAUSE

    async def _look_at(self, posts: Sequence[tuple[str, Place]], now: float) -> None:
        """Find the groups of the cards that were not read before. A group may be out of date later:
        `DigestSync` checks every review before it is shown for the first time.
        """
        if len(self._groups) > MAX_KNOWN:
            self._groups.clear()
        unknown: dict[str, list[Place]] = defaultdict(list)
        for review_id, place in posts:
            if (review_id, place) not in self._groups:
                unknown[review_id].append(place)

        def find_groups(snapshot: Snapshot) -> None:
            review_id = snapshot.review.id
            for place in unknown[review_id]:
                self._groups[review_id, place] = self._read(snapshot, place, now)

        for review_id in await read_outlines(self._reviews, unknown, find_groups):
            for place in unknown[review_id]:
                self._groups[review_id, place] = None  # its card fails, and says so

    def _read(self, snapshot: Snapshot, place: Place, now: float) -> _Known | None:
        """None for a review that gets its own card."""
        review = snapshot.review
        if not is_plain(snapshot, place) or alone_mark(place) in snapshot.marks:
            return None
        group = _Group(place, review.agent, people_of(review, place))
        return _Known(group, first_due(review, place, now))

    def _is_group(self, place: Place) -> bool:
        """Whether the place is a group, whose members get copies in their own conversations. Also True if no
        card can be posted there.
        """
        try:
            return self._channels.of_place(place).audience(place).kind == "group"
        except Undeliverable:
            return True
