"""Keeps a card's message in sync with its review: one message, in the newest state."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from hitl_core import telemetry
from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Place, Review, Snapshot
from hitl_core.review import Reviews, escalation, open_items, pending_actions

from ..channels.contract import MessageFixed, MessageGone
from ..inbox import OpenViews
from .lane import LATE_WINDOW
from .messages import Messages
from .thread_sync import ThreadSync

log = logging.getLogger(__name__)


class DeliveryAttempt(NamedTuple):
    """One try to deliver a card. `again`: an earlier one, at `since` or later, may have posted it.
    `is_swept`: if a post may be applied late, a sweep follows and looks for it.
    """

    again: bool
    since: float = 0.0
    is_swept: bool = False


class CardSync:
    """Places may be members' copies. Methods raise ChannelErrors, StoreUnavailable and ReviewNotFound."""

    def __init__(self, reviews: Reviews, messages: Messages, thread: ThreadSync) -> None:
        self._reviews, self._messages, self._thread = reviews, messages, thread
        self._views = OpenViews(reviews)

    async def post_first(
        self,
        snapshot: Snapshot,
        place: Place,
        attempt: DeliveryAttempt,
        gone: MessageRef | None = None,
    ) -> MessageRef | None:
        """Post the card. If two bots posted, the recorded message stays and the other bot deletes its own.
        `gone`: the recorded message, which somebody deleted. If it still exists and can't be deleted, nothing
        is posted. None if the review ended meanwhile.
        """
        review, store, again = snapshot.review, self._reviews.store, attempt.again
        if gone is not None or not attempt.is_swept:
            await store.record_mark(review.id, f"{_POSTED}{place}:{snapshot.now:.0f}")
        if gone is not None:
            await self._messages.delete(place, gone)
        found = await self._messages.find(snapshot, place, attempt.since) if again else []
        matches = [ref for ref in found if gone is None or ref.key != gone.key]
        if again and not matches and is_over(review):
            return None
        posted = await self._messages.post_once(
            "card",
            place,
            matches,
            lambda: self._post(snapshot, place),
            lambda ref: store.record_post(review.id, place, ref, gone),
        )
        if posted.is_new:
            await self._thread.mark_calls(snapshot, place)
            if not again:
                await store.record_shown_version(review.id, place, review.version)
        return posted.ref

    async def _post(self, snapshot: Snapshot, place: Place) -> MessageRef:
        review = snapshot.review
        attributes = telemetry.review_attributes(review)
        with telemetry.span("post card", attributes, kind="CONSUMER", parent=review.trace):
            ref, is_card = await self._messages.post(snapshot, place)
        if not is_card:  # the channel may take the card later; if not, that is reported
            await self._reviews.store.redraw(review.id, place.base, "check")
        return ref

    async def draw_latest(
        self, snapshot: Snapshot, place: Place, ref: MessageRef
    ) -> Snapshot | None:
        """Update the message until it shows the newest state. Returns that state; None if the card must be
        posted again: somebody deleted the message and something waits, or it would show an old state.
        """
        while snapshot.shown.get(place, 0) < snapshot.review.version:
            review = snapshot.review
            try:
                await self._messages.draw(ref, snapshot, place)
            except MessageGone as gone:
                log.warning("review %s: its message at %s: %s", review.id, place, gone)
                if has_waiting(review, place.base) or isinstance(gone, MessageFixed):
                    return None  # not recorded as shown
            shown_version = await self._reviews.store.record_shown_version(
                review.id, place, review.version
            )
            if shown_version <= review.version:
                break
            # Another bot drew a newer state meanwhile, and this update may have replaced it.
            snapshot = forget_shown_versions(await self._reviews.load(review.id))
        return snapshot

    async def postpone(self, snapshot: Snapshot, place: Place, ref: MessageRef) -> bool:
        """Whether the message is updated later, because somebody has a form or page open in its place. While
        nothing waits there, a form is of no use.
        """
        if snapshot.held or not has_waiting(snapshot.review, place.base):
            return False
        if seconds := await self._views.postpone(ref):
            kind = "card" if snapshot.shown else "check"  # see `forget_shown_versions`
            await self._reviews.store.redraw(snapshot.review.id, place.base, kind, delay=seconds)
        return seconds > 0

    async def start_clocks(self, snapshot: Snapshot, place: Place) -> bool:
        """Start the timers that count from delivery. Returns whether there were any."""
        keys = [
            action.key
            for action in pending_actions(snapshot.review, place.base)
            if action.clock_start is None
        ]
        if not keys:
            return False
        try:
            await self._reviews.change(
                snapshot.review.id,
                f"delivered:{place}:{snapshot.review.version}",  # an edit may bring it here again
                lambda review, now: escalation.start_clocks(review, keys, place, now),
            )
        except Refused as refused:  # another place was faster
            log.debug("review %s: %s", snapshot.review.id, refused)
        return True

    async def record_late_posts(
        self, snapshot: Snapshot, places: Collection[Place], since: float
    ) -> Snapshot:
        """Record messages at these places, where none is recorded: a post may be applied when nothing waits
        any more, and nobody would update it. Returns the snapshot with them.
        """
        review_id, is_any = snapshot.review.id, False
        for place in places:
            if found := await self._messages.find(snapshot, place, since):
                await self._reviews.store.record_post(review_id, place, found[0])
                is_any = True
        return await self._reviews.load(review_id) if is_any else snapshot

    async def delete_others(
        self, snapshot: Snapshot, place: Place, keep: MessageRef, since: float | None
    ) -> None:
        """Delete other messages about the review that were posted since then. Without a time, only those of a
        copy, and of posts that no sweep follows.
        """
        posts = unswept_posts(snapshot, place)
        if since is None and place == place.base:
            if not posts:
                return
            since = min(posts.values())
        found = await self._messages.find(snapshot, place, since or 0.0)
        await self._messages.delete_others(place, found, keep)
        for mark, time in posts.items():
            if time + LATE_WINDOW < snapshot.now:  # it is not late any more: that search was enough
                await self._reviews.store.drop_mark(snapshot.review.id, mark)


_POSTED = "posted:"


def unswept_posts(snapshot: Snapshot, place: Place) -> dict[str, float]:
    """When posts that no sweep follows began here or for a copy, by their marks: any of them may be applied
    late.
    """
    marks = [one for one in snapshot.marks if one.startswith(_POSTED)]
    parts = {one: one.removeprefix(_POSTED).rpartition(":") for one in marks}
    return {
        one: float(time)
        for one, (where, _, time) in parts.items()
        if place in (Place(where), Place(where).base)
    }


def forget_shown_versions(snapshot: Snapshot) -> Snapshot:
    """The snapshot without shown versions: what the messages show is unknown."""
    return replace(snapshot, shown={})


def has_waiting(review: Review, place: Place) -> bool:
    """Whether anything waits for people at this place."""
    return bool(open_items(review, place))


def is_over(review: Review) -> bool:
    """Whether the review needs no more decisions."""
    return review.status == "done" or review.cancelled is not None
