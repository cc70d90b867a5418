"""Digests: where too many first cards wait in one lane, the reviews of one agent share one message."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256

from hitl_core.errors import ReviewNotFound
from hitl_core.failpoints import failpoint
from hitl_core.model import MessageRef, Place, Review, Snapshot
from hitl_core.review import Reviews
from hitl_core.store import Digest, Job

from ..channels.contract import LookupFailed, MessageGone, Undeliverable
from ..channels.registry import Channels
from ..inbox import draw_digest
from ..people import waiting_actions
from .card_sync import has_waiting
from .messages import Messages

log = logging.getLogger(__name__)

#: How many cards are looked at, at once, and how many of one agent are worth a digest.
MAX_POSTS, MIN_REVIEWS = 500, 5
#: After nothing could be gathered, how many seconds it is not tried again.
PAUSE = 5.0
#: Reviews that are loaded at the same time.
CONCURRENCY = 16


class DigestMaker:
    """`after`: how many first cards may wait in a lane, one by one. 0: there are no digests."""

    def __init__(self, reviews: Reviews, channels: Channels, after: int) -> None:
        self._reviews, self._channels, self._after = reviews, channels, after
        self._next_try: dict[str, float] = {}

    async def gather(self, lane: str) -> None:
        """Where more cards wait than the setting says, take those of the same agent, place and people into
        its digest. Raises StoreUnavailable.
        """
        store, after = self._reviews.store, self._after
        if not after or self._next_try.get(lane, 0.0) > time.monotonic():
            return
        if len(await store.first_posts(lane, after + 1)) <= after:
            self._next_try.pop(lane, None)
            return
        groups: dict[tuple[str, Place, str, str], list[str]] = defaultdict(list)
        posts = await store.first_posts(lane, MAX_POSTS)
        outlines = dict(await load_outlines(self._reviews, {one for one, _ in posts}))
        for review_id, place in posts:
            if (snapshot := outlines.get(review_id)) is None or not self._is_plain(place):
                continue
            review = snapshot.review
            partition = review_id.partition("-")[0]
            groups[partition, place, review.agent, _people(review, place)].append(review_id)
        found = [(key, ids) for key, ids in groups.items() if len(ids) >= MIN_REVIEWS]
        for (_, place, agent, people), ids in found:
            await store.add_to_digest(lane, place, f"{place} {agent} {people}", agent, ids)
        if not found:
            self._next_try[lane] = time.monotonic() + PAUSE

    def _is_plain(self, place: Place) -> bool:
        """A group's members get copies, each in a conversation of its own."""
        try:
            return self._channels.of_place(place).audience(place).kind != "group"
        except Undeliverable:
            return False


class DigestSync:
    """Keeps a digest's message in sync: one message, with the newest count. Methods raise ChannelErrors and
    StoreUnavailable.
    """

    def __init__(self, reviews: Reviews, messages: Messages) -> None:
        self._reviews, self._messages = reviews, messages

    async def deliver(self, job: Job, *, again: bool) -> None:
        """Post or update the message. Reviews that need nobody any more before it is posted are left out; if
        it can't be posted, each review gets its own card, whose problem is reported and has a fallback.
        """
        store = self._reviews.store
        if (digest := await store.digest(job.review_id)) is None:
            return
        if digest.message is None:
            digest = await self._drop_settled(digest)
            if not digest.waiting and not again:
                return
            try:
                ref = await self._post(digest, again, job.first_at)
            except (Undeliverable, LookupFailed) as error:
                log.warning("the digest %s can't be posted: %s", digest.id, error)
                await store.dissolve_digest(digest.id)
                return
            await self._record_posts(digest, digest.new, ref)
            return
        await self._record_posts(digest, digest.new, digest.message)
        try:
            await self._messages.update_card(
                digest.message, digest.place, await draw_digest(self._reviews, digest)
            )
        except MessageGone:
            if digest.waiting:  # somebody deleted it
                await self._messages.delete(digest.message)
                ref = await self._post(digest, again, job.first_at, digest.message)
                await self._record_posts(digest, digest.waiting, ref, digest.message)

    async def note(self, snapshot: Snapshot, place: Place, digest_id: str) -> None:
        """The review changed, which the digest shows."""
        review, store = snapshot.review, self._reviews.store
        await store.update_digest(digest_id, review.id, waits=has_waiting(review, place))
        await store.record_shown_version(review.id, place, review.version)

    async def _post(
        self, digest: Digest, again: bool, since: float, gone: MessageRef | None = None
    ) -> MessageRef:
        store, place = self._reviews.store, digest.place
        found = await self._messages.find_by_id(digest.id, place, since) if again else []
        matches = [ref for ref in found if gone is None or ref.key != gone.key]
        await failpoint("outbox.before_digest")
        mine = (
            matches[0]
            if matches
            else await self._messages.post_card(place, await draw_digest(self._reviews, digest))
        )
        await failpoint("outbox.after_digest")
        winner = await store.record_digest_message(digest.id, mine, gone)
        for loser in [ref for ref in (mine, *matches[1:]) if ref.key != winner.key]:
            await self._messages.delete(loser)
        await failpoint("outbox.after_digest_record")
        if matches:
            await store.redraw_digest(digest.id)
        return winner

    async def _record_posts(
        self,
        digest: Digest,
        review_ids: Iterable[str],
        ref: MessageRef,
        gone: MessageRef | None = None,
    ) -> None:
        """Each review gets the digest as its message, and a job: its clocks start, and who may decide is
        checked.
        """
        store = self._reviews.store

        async def record(review_id: str) -> None:
            await store.record_post(review_id, digest.place, ref, gone)
            await store.redraw(review_id, digest.place, "card")

        review_ids = list(review_ids)
        await _for_each(review_ids, record)
        await store.finish_new(digest.id, review_ids)

    async def _drop_settled(self, digest: Digest) -> Digest:
        store, place = self._reviews.store, digest.place
        kept = await load_outlines(self._reviews, digest.waiting)
        waits = {one for one, snapshot in kept if has_waiting(snapshot.review, place)}
        for one in digest.waiting:
            if one not in waits:
                await store.update_digest(digest.id, one, waits=False)
        return await store.digest(digest.id) or digest


def _people(review: Review, place: Place) -> str:
    """A digest of the people who may decide on what waits at this place."""
    actions = waiting_actions(review, place)
    grants = sorted({repr(grant) for action in actions for grant in action.grants})
    return sha256("\n".join(grants).encode()).hexdigest()[:32]


async def load_outlines(reviews: Reviews, ids: Iterable[str]) -> list[tuple[str, Snapshot]]:
    """Those that are still kept, without their arguments."""
    found: list[tuple[str, Snapshot]] = []

    async def load(review_id: str) -> None:
        try:
            found.append((review_id, await reviews.load_outline(review_id)))
        except ReviewNotFound:
            return

    await _for_each(ids, load)
    return found


async def _for_each(ids: Iterable[str], work: Callable[[str], Awaitable[None]]) -> None:
    limit = asyncio.Semaphore(CONCURRENCY)

    async def run(one: str) -> None:
        async with limit:
            await work(one)

    async with asyncio.TaskGroup() as tasks:
        for one in ids:
            tasks.create_task(run(one))
