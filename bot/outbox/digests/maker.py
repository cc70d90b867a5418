"""Takes first cards into digests, where too many wait in one lane."""

from __future__ import annotations

import logging
import time
from collections import defaultdict

from hitl_core.errors import safe_message
from hitl_core.model import Place
from hitl_core.review import Reviews
from hitl_core.store import MAX_DIGEST, alone_mark

from ...channels.contract import Undeliverable
from ...channels.registry import Channels
from ...health import Health
from .reviews import is_plain, load_outlines, people_of

log = logging.getLogger(__name__)

#: How many cards are looked at, at once, and how many of one agent are worth a digest.
MAX_POSTS, MIN_REVIEWS = 500, 5
#: After nothing could be gathered, how many seconds it is not tried again.
PAUSE = 5.0


class DigestMaker:
    """`after`: how many first cards may wait in a lane, one by one. 0: there are no digests."""

    def __init__(
        self, reviews: Reviews, channels: Channels, after: int, health: Health | None = None
    ) -> None:
        self._health = health or Health()
        self._reviews, self._channels, self._after = reviews, channels, after
        self._next_try: dict[str, float] = {}

    async def gather(self, lane: str) -> None:
        """Where more cards wait than the setting says, take those of the same agent, place and people into
        its digest. Never raises: without digests each review has its card.
        """
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
        if not after or self._next_try.get(lane, 0.0) > time.monotonic():
            return
        if len(await store.first_posts(lane, after + 1)) <= after:
            self._next_try.pop(lane, None)
            return
        groups: dict[tuple[str, Place, str, str], list[str]] = defaultdict(list)
        posts = await store.first_posts(lane, MAX_POSTS)
        outlines = (await load_outlines(self._reviews, {one for one, _ in posts})).found
        for review_id, place in posts:
            if (snapshot := outlines.get(review_id)) is None or self._is_group(place):
                continue  # what can't be read has a card that fails, and says so
            if not is_plain(snapshot, place) or alone_mark(place) in snapshot.marks:
                continue
            review = snapshot.review
            partition = review_id.partition("-")[0]
            groups[partition, place, review.agent, people_of(review, place)].append(review_id)
        parts = [
            (key, ids[at : at + MAX_DIGEST])
            for key, ids in groups.items()
            for at in range(0, len(ids), MAX_DIGEST)
        ]
        found = [(key, ids) for key, ids in parts if len(ids) >= MIN_REVIEWS]
        taken = [
            await store.add_to_digest(lane, place, f"{place} {agent} {people}", agent, ids)
            for (_, place, agent, people), ids in found
        ]
        if not any(taken):
            self._next_try[lane] = time.monotonic() + PAUSE

    def _is_group(self, place: Place) -> bool:
        """A group's members get copies, each in a conversation of its own. Also where no card is possible."""
        try:
            return self._channels.of_place(place).audience(place).kind == "group"
        except Undeliverable:
            return True
