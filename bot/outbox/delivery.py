"""Delivers one card to one place: posts, finds or updates its message, so that there is one message with the
newest state. Then posts the new lines in its thread.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import assert_never

from hitl_core.errors import Refused
from hitl_core.failpoints import failpoint
from hitl_core.model import Grant, MessageRef, Place, Review, Snapshot
from hitl_core.review import Reviews, escalation, timers
from hitl_core.store import Job

from ..card import thread_lines
from ..channels.contract import (
    ChannelError,
    LookupFailed,
    NotFound,
    Undeliverable,
)
from ..channels.registry import Channels
from ..health import DeliveryProblems, Health
from ..offload import offload_drawing
from ..people import Directory, NoDeciderLeft, Recipients, TooFewDeciders, waiting_actions
from .messages import Messages
from .rate_limit import RateLimit

log = logging.getLogger(__name__)

#: Instead of the version that a message shows: somebody deleted the message.
GONE = -1


class Delivery:
    """Methods raise ChannelErrors, StoreUnavailable and ReviewNotFound. `message_interval` is the shortest
    time between two messages to one conversation, in seconds.
    """

    def __init__(
        self,
        reviews: Reviews,
        channels: Channels,
        directory: Directory,
        message_interval: float = 0.0,
        health: Health | None = None,
    ) -> None:
        self._reviews = reviews
        self._messages = Messages(channels, RateLimit(reviews.store, message_interval))
        self._delivery_problems = DeliveryProblems(reviews, channels, health or Health())
        self._recipients = Recipients(channels, directory)

    async def run_job(self, job: Job, *, again: bool) -> None:
        """`again`: an earlier attempt may have succeeded."""
        match job.kind:
            case "card":
                await self.deliver(job.review_id, job.place, again=again, since=job.first_at)
            case "check":
                await self.redraw(job.review_id, job.place)
            case "sweep":
                await self.redraw(job.review_id, job.place, since=float(job.note))
            case "stray":
                ref = MessageRef.model_validate_json(job.note)
                await self._remove_stray(job.review_id, job.place, ref)
            case "unknown":
                raise Undeliverable("the job can't be read")
            case _:
                assert_never(job.kind)

    async def deliver(
        self, review_id: str, place: Place, *, again: bool, since: float = 0.0
    ) -> None:
        """`again`: an earlier attempt, at `since` or later, may have posted it.

        If the place can't be reached, its actions move to the policy's fallback. A place where nothing waits
        needs no first card, and a review that is done is not retried permanently.
        """
        snapshot = await self._reviews.load(review_id)
        try:
            await self._deliver_copies(snapshot, place, again, since)
        except (Undeliverable, LookupFailed) as error:
            review = snapshot.review
            posted = any(one.base == place for one in snapshot.posts)
            if isinstance(error, NotFound) and await self._pass_on(snapshot, place, error):
                await self._delivery_problems.resolve(review, place)
                return
            if not (
                again and review.status == "done" if posted else not _has_waiting(review, place)
            ):
                too_few = isinstance(error, TooFewDeciders)
                await self._delivery_problems.report(review, place, error, too_few=too_few)
                raise
            log.warning(
                "review %s: nothing waits at %s, so its card is given up: %s",
                review_id,
                place,
                error,
            )
        await self._delivery_problems.resolve(snapshot.review, place)

    async def redraw(self, review_id: str, place: Place, since: float | None = None) -> None:
        """Update the card at this place in any case: a request that timed out may have been applied after the
        last update. `since`: also delete other messages about the review that were posted since then.
        """
        snapshot = await self._reviews.load(review_id)
        copies = [copy for copy in snapshot.posts if place in (copy, copy.base)]
        for copy in copies:
            ref = snapshot.posts[copy]
            if since is not None or copy != copy.base:
                await self._delete_others(snapshot, copy, ref, since or 0.0)
            await self._draw_latest(_forget_shown_versions(snapshot), copy, ref)

    async def _remove_stray(self, review_id: str, place: Place, ref: MessageRef) -> None:
        """Delete a message that is not recorded and on which somebody clicked: a post may have succeeded
        late. Not while a card is being posted to its conversation, because it may be that one.
        """
        snapshot = await self._reviews.load(review_id)
        posted = {copy.base for copy in snapshot.posts}
        missing = [one for one in snapshot.review.places if one not in posted]
        coming = [await self._messages.is_near(one, ref) for one in missing]
        shown = {one.key for one in snapshot.posts.values()}
        if ref.key not in shown and not any(coming):
            log.warning("review %s: a duplicate message at %s is deleted", review_id, place)
            await self._messages.delete(ref)
        await self.redraw(review_id, place)

    async def _deliver_copies(
        self, snapshot: Snapshot, place: Place, again: bool, since: float
    ) -> None:
        """Deliver to the place, or to each member of a group. A member who can't be reached does not stop the
        rest.
        """
        posted = any(one.base == place for one in snapshot.posts)
        unknown = None if posted else await self._recipients.check(snapshot, place)
        copies = await self._recipients.copies(snapshot, place)
        failed: list[Undeliverable | LookupFailed] = []
        for copy in copies:
            try:
                await self._deliver_at(snapshot, copy, again, since)
            except (Undeliverable, LookupFailed) as error:
                if copy == place:
                    raise
                log.warning("review %s: the copy at %s failed: %s", snapshot.review.id, copy, error)
                failed.append(error)
        if copies and len(failed) == len(copies):
            raise next((one for one in failed if not isinstance(one, NotFound)), failed[0])
        if posted:  # the last decider may have left since
            unknown = await self._recipients.check(snapshot, place)
        if unknown is not None:
            raise unknown

    async def _deliver_at(
        self, snapshot: Snapshot, place: Place, again: bool, since: float
    ) -> None:
        """`place` may be a copy."""
        review_id = snapshot.review.id
        ref = snapshot.posts.get(place)
        if ref is None:
            ref = await self._post_first(snapshot, place, again, since)
            if ref is None:
                return
            snapshot = await self._reviews.load(review_id)
        if await self._start_clocks(snapshot, place):
            snapshot = await self._reviews.load(review_id)  # its card can show the deadline now
        if again:  # an earlier attempt may have drawn an older state
            snapshot = _forget_shown_versions(snapshot)
        latest = await self._draw_latest(snapshot, place, ref)
        await self._post_thread_lines(latest, place, ref)
        if latest.shown.get(place) == GONE and waiting_actions(latest.review, place.base):
            raise Undeliverable("its message was deleted there, but it still waits for people")

    async def _draw_latest(self, snapshot: Snapshot, place: Place, ref: MessageRef) -> Snapshot:
        """Update the message until it shows the newest state. Returns that state; it shows GONE if the
        message was deleted.
        """
        while snapshot.shown.get(place, 0) < snapshot.review.version:
            review = snapshot.review
            if not await self._messages.draw(ref, snapshot, place) and waiting_actions(
                review, place.base
            ):
                # Not recorded as shown: it is a problem until it is decided.
                return snapshot.model_copy(update={"shown": {**snapshot.shown, place: GONE}})
            shown_version = await self._reviews.store.record_shown_version(
                review.id, place, review.version
            )
            if shown_version <= review.version:
                break
            # Another bot drew a newer state meanwhile, and this update may have replaced it.
            snapshot = _forget_shown_versions(await self._reviews.load(review.id))
        return snapshot

    async def _post_first(
        self, snapshot: Snapshot, place: Place, again: bool, since: float
    ) -> MessageRef | None:
        """Post the card. If two bots posted, the recorded message stays and the other bot deletes its own.
        None if the review ended meanwhile.
        """
        review, store = snapshot.review, self._reviews.store
        matches = await self._messages.find(snapshot, place, since) if again else []
        if again and not matches and _is_over(review):
            return None
        await failpoint("outbox.before_post")
        mine = matches[0] if matches else await self._messages.post(snapshot, place)
        await failpoint("outbox.after_post")
        winner = await store.record_post(review.id, place, mine)
        for loser in [ref for ref in (mine, *matches[1:]) if ref.key != winner.key]:
            await self._messages.delete(loser)
        await failpoint("outbox.after_record")
        if winner.key == mine.key and not again:
            await store.record_shown_version(review.id, place, review.version)
        return winner

    async def _start_clocks(self, snapshot: Snapshot, place: Place) -> bool:
        """Start the timers that count from delivery. Returns whether there were any."""
        keys = [
            action.key
            for action in waiting_actions(snapshot.review, place.base)
            if action.clock_start is None
        ]
        if not keys:
            return False
        try:
            await self._reviews.change(
                snapshot.review.id,
                f"delivered:{place}:{snapshot.review.version}",  # an edit may bring it here again
                lambda review, now: timers.start_clocks(review, keys, now),
            )
        except Refused as refused:  # another place was faster
            log.debug("review %s: %s", snapshot.review.id, refused)
        return True

    async def _post_thread_lines(self, snapshot: Snapshot, place: Place, ref: MessageRef) -> None:
        """Post the new thread lines, each at most once: if the bot dies in between, a line is lost."""
        review, store = snapshot.review, self._reviews.store
        lines = await offload_drawing(review, lambda: thread_lines(review, place.base))
        for number, line in enumerate(lines):
            mark = f"told:{place}:{number}"
            if mark in snapshot.marks or not await store.record_mark(review.id, mark):
                continue
            try:
                await self._messages.reply(place, ref, line)
            except Undeliverable as error:
                log.warning("review %s: a thread line could not be posted: %s", review.id, error)

    async def _pass_on(self, snapshot: Snapshot, place: Place, error: NotFound) -> bool:
        """Let other people decide what waits here. Returns whether nothing is left to deliver here now."""
        review = snapshot.review
        if isinstance(error, NoDeciderLeft):
            return await self._replace_deciders(review, place, error.undecidable, str(error))
        if isinstance(error, TooFewDeciders):  # nobody gets a right, and it stays a problem
            await self._show_in_fallback(review, place, str(error))
            return False
        # An unknown result must not let other people decide.
        with suppress(ChannelError):
            undecidable = await self._recipients.undecidable(snapshot, place, is_lost=True)
            await self._replace_deciders(review, place, undecidable, str(error))
        return await self._show_in_fallback(review, place, str(error))

    async def _replace_deciders(
        self, review: Review, place: Place, undecidable: Mapping[str, tuple[Grant, ...]], why: str
    ) -> bool:
        try:
            await self._reviews.change(
                review.id,
                f"replace:{place}:{review.version}",
                lambda review, now: escalation.replace_deciders(
                    review, undecidable, place, why, now
                ),
            )
        except Refused as refused:
            log.debug("review %s: %s", review.id, refused)
            return refused.code == "changed"
        log.error("review %s: other people may decide on it now: %s", review.id, why)
        return True

    async def _show_in_fallback(self, review: Review, place: Place, why: str) -> bool:
        """Move the pending actions to their fallback. Returns whether all of them are there."""
        try:
            applied = await self._reviews.change(
                review.id,
                f"fallback:{place}:{review.version}",
                lambda review, now: escalation.use_fallback(review, place, why, now),
            )
            review = applied.review
            log.error(
                "review %s: it can't be shown at %s, so it moves to its fallback: %s",
                review.id,
                place,
                why,
            )
        except Refused as refused:
            log.debug("review %s: %s", review.id, refused)
            review = (await self._reviews.load(review.id)).review
        waiting = waiting_actions(review, place)
        fallbacks = [(action.route.fallback, action.places) for action in waiting]
        return bool(waiting) and all(to and to != place and to in at for to, at in fallbacks)

    async def _delete_others(
        self, snapshot: Snapshot, place: Place, keep: MessageRef, since: float
    ) -> None:
        for ref in await self._messages.find(snapshot, place, since):
            if ref.key != keep.key:
                await self._messages.delete(ref)


def _forget_shown_versions(snapshot: Snapshot) -> Snapshot:
    """The snapshot without shown versions: what the messages show is unknown."""
    return snapshot.model_copy(update={"shown": {}})


def _has_waiting(review: Review, place: Place) -> bool:
    """Whether anything waits for people at this place."""
    doubts = any(place in review.places_of(call) for call in review.calls_in_doubt)
    return bool(waiting_actions(review, place)) or (doubts and not _is_over(review))


def _is_over(review: Review) -> bool:
    """Whether the review needs no more decisions."""
    return review.status == "done" or review.cancelled is not None
