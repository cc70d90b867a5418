"""Keeps the message of a digest in sync with its reviews."""

from __future__ import annotations

import logging
from collections import defaultdict

from hitl_core.failpoints import failpoint
from hitl_core.model import MessageRef, Place, Snapshot
from hitl_core.review import Reviews
from hitl_core.store import Digest, Job

from ...channels.contract import ChannelError, MessageGone
from ...inbox import draw_digest
from ...people import Recipients
from ..card_sync import has_waiting
from ..messages import Messages
from .reviews import for_each, is_plain, load_outlines, people_of

log = logging.getLogger(__name__)


class DigestSync:
    """Keeps a digest's message in sync: one message, with the newest count. A digest is only a shortcut for
    plain pending reviews: where anything else is true of one, it gets a card of its own. Methods raise
    ChannelErrors and StoreUnavailable; then the digest is dissolved.
    """

    def __init__(self, reviews: Reviews, messages: Messages, recipients: Recipients) -> None:
        self._reviews, self._messages, self._recipients = reviews, messages, recipients

    async def run_job(self, job: Job, *, again: bool) -> None:
        """Post or update the message, which is never left out: it costs one update for many changes. A
        `sweep` also deletes other messages of this digest.
        """
        store = self._reviews.store
        digest = await store.digest(job.review_id)
        if digest is None:
            log.warning("the digest %s is over: nothing of it waits", job.review_id)
            return
        if digest.closed:  # the bot that began to dissolve it may be dead
            await store.dissolve_digest(digest.id)
        else:
            await self._check_new(digest)
        digest = await store.digest(job.review_id) or digest
        ref = digest.message
        if ref is not None:
            if not await self._update(digest, ref):  # somebody deleted it
                await self._messages.delete(ref)
                ref = await self._post(digest, again, job.first_at, gone=ref)
        else:
            ref = await self._post(digest, again, job.first_at)
        if ref is None:
            return
        await self._record_posts(await store.digest(digest.id) or digest, ref)
        if job.kind == "sweep":
            for other in await self._messages.find_by_id(digest.id, digest.place, float(job.note)):
                if other.key != ref.key:
                    await self._messages.delete(other)

    async def note(self, snapshot: Snapshot, place: Place, digest_id: str) -> bool:
        """The review changed, which the digest shows. Returns whether it still does; otherwise the review
        gets a card, by a job of its own.
        """
        review, store, waits = (
            snapshot.review,
            self._reviews.store,
            has_waiting(snapshot.review, place),
        )
        is_shown = not waits or is_plain(snapshot, place)
        if not (is_shown and await store.update_digest(digest_id, review.id, waits=waits)):
            await store.leave_digest(digest_id, place, [review.id])
            return False
        await store.record_shown_version(review.id, place, review.version)
        return True

    async def _check_new(self, digest: Digest) -> None:
        """What is shown for the first time goes through the checks of a first card. Where one finds
        anything, the review leaves: its card's job reports it, and has a fallback. What waits no more needs
        nobody, so it is dropped.
        """
        store, place = self._reviews.store, digest.place
        loaded = await load_outlines(self._reviews, digest.new)
        leaving, groups = list(loaded.unreadable), defaultdict[str, list[Snapshot]](list)
        for one in digest.new:
            if one in leaving:
                continue
            if (snapshot := loaded.found.get(one)) is None or not has_waiting(
                snapshot.review, place
            ):
                await store.update_digest(digest.id, one, waits=False)
            elif is_plain(snapshot, place):
                groups[people_of(snapshot.review, place)].append(snapshot)
            else:
                leaving.append(one)
        for group in groups.values():
            if (why := await self._find_problem(group[0], place)) is not None:
                log.warning("%s is no place for the digest %s: %s", place, digest.id, why)
                leaving += [one.review.id for one in group]
        if leaving:
            await store.leave_digest(digest.id, place, leaving)

    async def _find_problem(self, snapshot: Snapshot, place: Place) -> ChannelError | None:
        """A post looks at the place itself, but an update may pass where no card would."""
        try:
            await self._messages.check_place(place)
            return await self._recipients.check(snapshot, place)
        except ChannelError as error:
            return error

    async def _update(self, digest: Digest, ref: MessageRef) -> bool:
        """Returns False if its message was deleted and something waits."""
        try:
            card = await draw_digest(self._reviews, digest)
            await self._messages.update_card(ref, digest.place, card)
        except MessageGone:
            return not digest.waiting
        return True

    async def _post(
        self, digest: Digest, again: bool, since: float, gone: MessageRef | None = None
    ) -> MessageRef | None:
        """None if nothing waits, and nothing was posted."""
        store, place = self._reviews.store, digest.place
        found = await self._messages.find_by_id(digest.id, place, since) if again else []
        matches = [ref for ref in found if gone is None or ref.key != gone.key]
        if not (matches or digest.waiting):
            return None
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

    async def _record_posts(self, digest: Digest, ref: MessageRef) -> None:
        """Each new review gets the digest as its message, and a job: its clocks start, and who may decide is
        checked.
        """
        store, place = self._reviews.store, digest.place
        loaded = await load_outlines(self._reviews, digest.new)

        async def record(review_id: str) -> None:
            if (snapshot := loaded.found.get(review_id)) is None:
                return
            await store.record_post(review_id, place, ref, snapshot.posts.get(place), digest.id)
            await store.redraw(review_id, place, "card")

        await for_each(digest.new, record)
        await store.finish_new(digest.id, digest.new)
