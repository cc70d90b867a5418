"""Keeps the message of a digest in sync with its reviews."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence

from hitl_core.errors import DigestUnreadable, ReviewNotFound
from hitl_core.model import MessageRef, Place, Snapshot
from hitl_core.review import Reviews
from hitl_core.store import Digest, Job

from ...channels.contract import ChannelError, LookupFailed, MessageGone, NotFound
from ...inbox import OpenViews, draw_digest
from ...people import Recipients
from ..card_sync import has_waiting
from ..messages import Messages
from .reviews import for_each, is_plain, people_of, read_outlines

log = logging.getLogger(__name__)


class DigestSync:
    """Keeps a digest's message in sync: one message, with the newest count. A digest is only for plain
    pending reviews; any other review gets its own card. Methods raise ChannelErrors and StoreUnavailable;
    after that the digest is dissolved.
    """

    def __init__(self, reviews: Reviews, messages: Messages, recipients: Recipients) -> None:
        self._reviews, self._messages, self._recipients = reviews, messages, recipients
        self._views = OpenViews(reviews)

    async def run_job(self, job: Job, *, again: bool) -> bool:
        """Post or update the message. Updates are never skipped: one update serves many changes. A `sweep`
        also deletes other messages of this digest. Returns whether these could not be looked for.
        """
        store = self._reviews.store
        digest = await store.digest(job.review_id)
        # A sweep also finds a post that was applied when nothing waited any more.
        is_sweep = job.kind == "sweep"
        again, since = again or is_sweep, float(job.note) if is_sweep else job.first_at
        if digest is None:
            log.warning("the digest %s is over: nothing of it waits", job.review_id)
            return False
        if digest.closed:  # the bot that began to dissolve it may have died
            await store.dissolve_digest(digest.id, digest.place)
        else:
            await self._check_new(digest)
        digest = await store.digest(job.review_id) or digest
        ref = digest.message
        # New reviews are recorded when they are shown.
        is_postponed = ref is not None and await self._postpone(digest, ref)
        if ref is None:
            ref = await self._post(digest, again, since)
        elif not is_postponed and not await self._update(digest, ref):  # somebody deleted it
            await self._messages.delete(digest.place, ref)
            ref = await self._post(digest, again, since, gone=ref)
        if ref is None:
            return False
        if not is_postponed:
            await self._record_posts(await store.digest(digest.id) or digest, ref)
        return is_sweep and not await self._delete_others(digest, ref, since)

    async def _delete_others(self, digest: Digest, keep: MessageRef, since: float) -> bool:
        """Returns False where they can't be looked for: that is no reason to dissolve a digest that is
        shown.
        """
        try:
            found = await self._messages.find_by_id(digest.id, digest.place, since)
        except LookupFailed as error:
            log.info("digest %s: duplicates can't be looked for: %s", digest.id, error)
            return False
        await self._messages.delete_others(digest.place, found, keep)
        return True

    async def note(self, snapshot: Snapshot, place: Place, digest_id: str) -> bool:
        """Note a change of a review that the digest shows. Returns whether the digest still shows it;
        otherwise the review gets a card, by its own job.
        """
        review, store, waits = (
            snapshot.review,
            self._reviews.store,
            has_waiting(snapshot.review, place),
        )
        is_shown = not waits or is_plain(snapshot, place)
        try:
            is_shown = is_shown and await store.update_digest(digest_id, review.id, waits=waits)
        except DigestUnreadable as error:
            log.error("the digest %s is dissolved: %s", digest_id, error)
            await store.dissolve_digest(digest_id, place)
            is_shown = False
        if not is_shown:
            await store.leave_digest(digest_id, place, [review.id])
            return False
        await store.record_shown_version(review.id, place, review.version)
        if waits and snapshot.shown.get(place, 0) < review.version:
            await store.redraw_digest(digest_id)  # its line may have changed
        return True

    async def _check_new(self, digest: Digest) -> None:
        """Check each review that the digest will show for the first time, like a first card. If a check finds
        a problem, the review leaves the digest: its card's job reports the problem, and has a fallback.
        Reviews that no longer wait are dropped.
        """
        store, place = self._reviews.store, digest.place
        people = dict[str, str | None]()  # None: the review is not plain

        def find_people(snapshot: Snapshot) -> None:
            review = snapshot.review
            if has_waiting(review, place):
                people[review.id] = people_of(review, place) if is_plain(snapshot, place) else None

        unreadable = await read_outlines(self._reviews, digest.new, find_people)
        leaving, groups = list(unreadable), defaultdict[str, list[str]](list)
        for one in digest.new:
            if one not in people:
                if one not in unreadable:
                    await store.update_digest(digest.id, one, waits=False)
            elif (who := people[one]) is None:
                leaving.append(one)
            else:
                groups[who].append(one)
        for ids in groups.values():
            if (why := await self._find_problem(ids, place)) is not None:
                log.warning("%s is no place for the digest %s: %s", place, digest.id, why)
                leaving += ids
        if leaving:
            await store.leave_digest(digest.id, place, leaving)

    async def _find_problem(self, ids: Sequence[str], place: Place) -> NotFound | None:
        """The problem of the place, checked with one of these reviews for all of them. A post would fail, but
        an update can succeed where no card may be posted. A failed look-up is no problem here: it would end
        the digest in an outage, when most cards wait. The reviews' own jobs repeat the look-up.
        """
        for one in ids:
            try:
                snapshot = await self._reviews.load_outline(one)
                await self._messages.check_place(place)
                problem = await self._recipients.check(snapshot, place)
            except ReviewNotFound:
                continue
            except NotFound as error:
                return error
            except ChannelError as error:
                log.info("it is not known whether %s can have a digest: %s", place, error)
                return None
            return problem if isinstance(problem, NotFound) else None
        return None

    async def _postpone(self, digest: Digest, ref: MessageRef) -> bool:
        """Whether the message is updated later, because somebody has one of its reviews open in its place."""
        seconds = await self._views.postpone(ref) if digest.waiting else 0.0
        if seconds:
            store = self._reviews.store
            await store.redraw(digest.id, digest.place, "digest", delay=seconds)
        return seconds > 0

    async def _update(self, digest: Digest, ref: MessageRef) -> bool:
        """Update the message. Returns False if it was deleted and something waits."""
        try:
            card = await draw_digest(self._reviews, digest)
            await self._messages.update_card(ref, digest.place, card)
        except MessageGone:
            return not digest.waiting
        return True

    async def _post(
        self, digest: Digest, again: bool, since: float, gone: MessageRef | None = None
    ) -> MessageRef | None:
        """Post the message. None if nothing waits, so that nothing was posted."""
        store, place = self._reviews.store, digest.place
        found = await self._messages.find_by_id(digest.id, place, since) if again else []
        matches = [ref for ref in found if gone is None or ref.key != gone.key]
        if not (matches or digest.waiting):
            return None

        async def post() -> MessageRef:
            card = await draw_digest(self._reviews, digest)
            return await self._messages.post_card(place, card)

        posted = await self._messages.post_once(
            "digest",
            digest.place,
            matches,
            post,
            lambda ref: store.record_digest_message(digest.id, ref, gone),
        )
        if matches:
            await store.redraw_digest(digest.id)
        return posted.ref

    async def _record_posts(self, digest: Digest, ref: MessageRef) -> None:
        """Record the digest's message for each new review, and queue a job for it: its clocks start, and it
        is checked who may decide.
        """
        store, place = self._reviews.store, digest.place
        before = dict[str, MessageRef | None]()

        def find_post(snapshot: Snapshot) -> None:
            before[snapshot.review.id] = snapshot.posts.get(place)

        async def record(review_id: str) -> None:
            await store.record_post(review_id, place, ref, before[review_id], digest.id)
            await store.redraw(review_id, place, "card")

        await read_outlines(self._reviews, digest.new, find_post)
        await for_each(before, record)
        await store.finish_new(digest.id, digest.new)
