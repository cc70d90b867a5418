"""Delivers one card to one place: posts, finds or updates its message, so that there is one message in the
newest state. Then posts the new lines in its thread.
"""

from __future__ import annotations

import logging
from typing import assert_never

from hitl_core.model import MessageRef, Place, Snapshot, is_digest_id
from hitl_core.review import Reviews
from hitl_core.store import Job, digest_at

from ..channels.contract import LookupFailed, NotFound, Undeliverable
from ..channels.registry import Channels
from ..health import DeliveryProblems, Health
from ..people import Directory, NoDeciderLeft, Recipients, TooFewDeciders
from .card_sync import CardSync, DeliveryAttempt, forget_shown_versions, has_waiting, unswept_posts
from .digests import DigestSync
from .fallback import Fallback
from .messages import Messages
from .shown_deciders import ShownDeciders
from .thread_sync import ThreadSync

log = logging.getLogger(__name__)


class Delivery:
    """Methods raise ChannelErrors, StoreUnavailable and ReviewNotFound. `pace` is a factor for the
    channels' own rate limits; 0.0 is none.
    """

    def __init__(
        self,
        reviews: Reviews,
        channels: Channels,
        directory: Directory,
        health: Health,
        pace: float = 0.0,
    ) -> None:
        self._reviews, self._channels = reviews, channels
        self._messages = Messages(channels, reviews.store, pace)
        self._delivery_problems = DeliveryProblems(reviews, channels, health)
        self._recipients = Recipients(channels, directory, reviews.store)
        self._thread = ThreadSync(reviews, self._messages, health)
        self._cards = CardSync(reviews, self._messages, self._thread)
        self._digests = DigestSync(reviews, self._messages, self._recipients)
        self._fallback = Fallback(reviews, self._recipients)
        self.deciders = ShownDeciders(
            reviews, channels, self._recipients, self._fallback, self._delivery_problems
        )

    @property
    def waiting(self) -> int:
        """How many posts and updates wait for a channel's rate limit."""
        return self._messages.waiting

    async def run_job(self, job: Job, *, again: bool) -> bool:
        """`again`: an earlier try may have succeeded. True if late posts could not be looked for."""
        if is_digest_id(job.review_id):
            return await self._digests.run_job(job, again=again)
        try:
            await self._run_kind(job, again=again)
        except (Undeliverable, LookupFailed) as error:  # as a `card` job, which has fallbacks
            if job.kind in ("card", "unknown"):
                raise
            await self.deliver(job.review_id, job.place, again=True, since=job.first_at)
            return isinstance(error, LookupFailed)
        return False

    async def _run_kind(self, job: Job, *, again: bool) -> None:
        match job.kind:
            case "card":
                is_swept = job.half == "post"
                await self.deliver(
                    job.review_id, job.place, again=again, since=job.first_at, is_swept=is_swept
                )
            case "check":
                await self.redraw(job, again)
            case "sweep":
                await self.redraw(job, again, since=float(job.note))
            case "stray":
                ref = MessageRef.model_validate_json(job.note)
                await self._remove_stray(job, again, ref)
            case "digest" | "newer" | "unknown":
                raise Undeliverable("the job can't be read")
            case _:
                assert_never(job.kind)

    async def deliver(
        self,
        review_id: str,
        place: Place,
        *,
        again: bool,
        since: float = 0.0,
        is_swept: bool = False,
    ) -> None:
        """Deliver the card of a review to a place, see `DeliveryAttempt`.

        If the place can't be reached, its actions move to the policy's fallback. No first card is posted at a
        place where nothing waits, and a review that is done is not retried permanently.
        """
        attempt, snapshot = (
            DeliveryAttempt(again, since, is_swept),
            await self._reviews.load(review_id),
        )
        review, posted = snapshot.review, any(one.base == place for one in snapshot.posts)
        try:
            await self._deliver_copies(snapshot, place, attempt)
        except (Undeliverable, LookupFailed) as error:
            if isinstance(error, NotFound) and await self._fallback.pass_on(snapshot, place, error):
                await self._delivery_problems.resolve(review, place, is_reached=False)
                return
            if not (
                again and review.status == "done" if posted else not has_waiting(review, place)
            ):
                undecidable = isinstance(error, TooFewDeciders | NoDeciderLeft)
                is_shown = isinstance(error, TooFewDeciders) or (undecidable and posted)
                await self._delivery_problems.report(
                    review, place, error, undecidable=undecidable, is_shown=is_shown
                )
                raise
            text = "review %s: nothing waits at %s, so its card is given up: %s"
            log.warning(text, review_id, place, error)
            await self._delivery_problems.resolve(review, place, is_reached=False)
            return
        waits = has_waiting(review, place)
        if posted:
            await self._delivery_problems.resolve_updated(review, place, waits=waits)
        else:
            await self._delivery_problems.resolve(review, place, is_reached=waits)

    async def redraw(self, job: Job, again: bool, since: float | None = None) -> None:
        """Update the card at this place even if it shows the newest version: a request that timed out may
        have been applied after the last update. `since`: also look for other messages about the review that
        were posted since then.
        """
        snapshot, place = await self._reviews.load(job.review_id), job.place
        late = [*unswept_posts(snapshot, place).values(), *([] if since is None else [since])]
        if late:
            missing = await self._recipients.copies_without_post(snapshot, place)
            snapshot = await self._cards.record_late_posts(snapshot, missing, min(late))
        attempt = DeliveryAttempt(again, job.first_at)
        readers, _ = await self._recipients.copies(snapshot, place)
        for copy, ref in [one for one in snapshot.posts.items() if one[0] in readers]:
            await self._cards.delete_others(snapshot, copy, ref, since)
            await self._draw(forget_shown_versions(snapshot), copy, ref, attempt)

    async def _remove_stray(self, job: Job, again: bool, ref: MessageRef) -> None:
        """Delete an unrecorded message on which somebody clicked: its post may have succeeded late. Not while
        a card is being posted to this conversation, because the message may be that card. The id comes from a
        client, so the message is only deleted if the channel finds it as a card of this review.
        """
        snapshot, place = await self._reviews.load(job.review_id), job.place
        posted = {copy.base for copy in snapshot.posts}
        missing = [one for one in snapshot.review.places if one not in posted]
        coming = [await self._messages.is_near(one, ref) for one in missing]
        shown = {one.key for one in snapshot.posts.values()}
        if ref.key not in shown and not any(coming) and await self._is_duplicate(snapshot, ref):
            log.warning("review %s: a duplicate message at %s is deleted", job.review_id, place)
            await self._messages.delete(place, ref)
        await self.redraw(job, again)

    async def _is_duplicate(self, snapshot: Snapshot, ref: MessageRef) -> bool:
        """Whether this message is a card of this review at one of its places in the same conversation. False
        if that is unknown.
        """
        for place, shown in snapshot.posts.items():
            if shown.key[:2] != ref.key[:2]:
                continue
            try:
                found = await self._messages.find(snapshot, place, 0.0)
            except (Undeliverable, LookupFailed) as error:
                log.info("review %s: duplicates can't be looked for: %s", snapshot.review.id, error)
                continue
            if ref.key in {one.key for one in found}:
                return True
        return False

    async def _deliver_copies(
        self, snapshot: Snapshot, place: Place, attempt: DeliveryAttempt
    ) -> None:
        """Deliver to the place, or to each member of a group: one who can't be reached stops no other."""
        posted = any(one.base == place for one in snapshot.posts)
        unknown = None if posted else await self._recipients.check(snapshot, place)
        copies, unsure = await self._recipients.copies(snapshot, place)
        failed: list[Undeliverable | LookupFailed] = []
        for copy in copies:
            try:
                await self._deliver_at(snapshot, copy, attempt)
            except (Undeliverable, LookupFailed) as error:
                if copy == place:
                    raise
                log.warning("review %s: the copy at %s failed: %s", snapshot.review.id, copy, error)
                failed.append(error)
        if copies and len(failed) == len(copies):
            raise next((one for one in failed if not isinstance(one, NotFound)), failed[0])
        if posted:  # the last decider may have left since
            unknown = await self._recipients.check(snapshot, place)
        if (failure := unknown or unsure) is not None:
            raise failure

    async def _deliver_at(self, snapshot: Snapshot, place: Place, attempt: DeliveryAttempt) -> None:
        """Deliver to one place. It may be a member's copy."""
        review_id = snapshot.review.id
        ref = snapshot.posts.get(place)
        if digest_id := digest_at(snapshot, place):
            if ref is not None and await self._cards.start_clocks(snapshot, place):
                snapshot = await self._reviews.load(review_id)
            is_there = await self._digests.note(snapshot, place, digest_id)
            if is_there and ref is not None:
                await self._thread.post_lines(snapshot, place, ref, digest_id)
            return
        if ref is None:
            ref = await self._cards.post_first(snapshot, place, attempt)
            if ref is None:
                return
            snapshot = await self._reviews.load(review_id)
        if await self._cards.start_clocks(snapshot, place):
            snapshot = await self._reviews.load(review_id)  # its card may show the deadline now
        if attempt.again:  # an earlier attempt may have drawn an older state
            snapshot = forget_shown_versions(snapshot)
        await self._draw(snapshot, place, ref, attempt)

    async def _draw(
        self, snapshot: Snapshot, place: Place, ref: MessageRef, attempt: DeliveryAttempt
    ) -> None:
        """Update the message, now or later, then its thread. If somebody deleted the message, the card is
        posted again. If a digest shows the review, only the digest is told: it has its own job.
        """
        if digest_id := digest_at(snapshot, place):
            if await self._digests.note(snapshot, place, digest_id):
                await self._reviews.store.redraw_digest(digest_id)
            return
        if await self._cards.postpone(snapshot, place, ref):
            await self._thread.post_lines(snapshot, place, ref)
            return
        latest = await self._cards.draw_latest(snapshot, place, ref)
        if latest is None:
            loaded = await self._reviews.load(snapshot.review.id)
            new = await self._cards.post_first(loaded, place, attempt, gone=ref)
            if new is None:
                return
            loaded = await self._reviews.load(snapshot.review.id)
            latest, ref = await self._cards.draw_latest(loaded, place, new) or loaded, new
        await self._thread.post_lines(latest, place, ref)
