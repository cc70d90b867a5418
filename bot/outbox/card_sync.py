"""Keeps a card's message in sync with its review: one message, in the newest state, with its thread."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace

from hitl_core import telemetry
from hitl_core.failpoints import failpoint
from hitl_core.model import Call, MessageRef, Place, Review, Snapshot
from hitl_core.review import Reviews, open_items

from ..card import doubt_line, thread_lines
from ..channels.contract import NotSent, Undeliverable, Unreachable
from ..offload import offload_drawing
from .messages import Messages

log = logging.getLogger(__name__)

#: The shown version of a message that somebody deleted.
GONE = -1
#: The shortest time between two reminders in a digest's thread, in seconds.
REMINDER_PAUSE = 600.0


class CardSync:
    """Places may be members' copies. Methods raise ChannelErrors, StoreUnavailable and ReviewNotFound."""

    def __init__(self, reviews: Reviews, messages: Messages) -> None:
        self._reviews, self._messages = reviews, messages

    async def post_first(
        self,
        snapshot: Snapshot,
        place: Place,
        again: bool,
        since: float,
        gone: MessageRef | None = None,
    ) -> MessageRef | None:
        """Post the card. If two bots posted, the recorded message stays and the other bot deletes its own.
        `gone`: the recorded message, which somebody deleted. If it still exists and can't be deleted, nothing
        is posted. None if the review ended meanwhile.
        """
        review, store = snapshot.review, self._reviews.store
        if gone is not None:
            await store.record_mark(review.id, f"{_again_mark(place)}{snapshot.now:.0f}")
            await self._messages.delete(gone)
        found = await self._messages.find(snapshot, place, since) if again else []
        matches = [ref for ref in found if gone is None or ref.key != gone.key]
        if again and not matches and is_over(review):
            return None
        await failpoint("outbox.before_post")
        mine = matches[0] if matches else await self._post(snapshot, place)
        await failpoint("outbox.after_post")
        winner = await store.record_post(review.id, place, mine, gone)
        await self._messages.delete_others((mine, *matches[1:]), winner)
        await failpoint("outbox.after_record")
        if not matches:
            await self._mark_doubts(snapshot, place)  # the new message asks about them
        if winner.key == mine.key and not again:
            await store.record_shown_version(review.id, place, review.version)
        return winner

    async def _post(self, snapshot: Snapshot, place: Place) -> MessageRef:
        review = snapshot.review
        attributes = telemetry.review_attributes(review)
        with telemetry.span("post card", attributes, kind="CONSUMER", parent=review.trace):
            return await self._messages.post(snapshot, place)

    async def draw_latest(self, snapshot: Snapshot, place: Place, ref: MessageRef) -> Snapshot:
        """Update the message until it shows the newest state. Returns that state, with the shown version GONE
        if the message was deleted.
        """
        while snapshot.shown.get(place, 0) < snapshot.review.version:
            review = snapshot.review
            if not await self._messages.draw(ref, snapshot, place) and has_waiting(
                review, place.base
            ):
                # Not recorded as shown, so that it is posted again.
                return replace(snapshot, shown={**snapshot.shown, place: GONE})
            shown_version = await self._reviews.store.record_shown_version(
                review.id, place, review.version
            )
            if shown_version <= review.version:
                break
            # Another bot drew a newer state meanwhile, and this update may have replaced it.
            snapshot = forget_shown_versions(await self._reviews.load(review.id))
        return snapshot

    async def post_thread_lines(
        self, snapshot: Snapshot, place: Place, ref: MessageRef, digest_id: str | None = None
    ) -> None:
        """Post the new thread lines, each once. If the bot dies during a post, that line is lost; but a
        reminder is posted again if its post is unknown. A digest's thread only gets reminders, one for all
        its reviews in REMINDER_PAUSE.
        """
        review, store = snapshot.review, self._reviews.store
        lines = await offload_drawing(review, lambda: thread_lines(review, place.base))
        for number, line in enumerate(lines):
            mark = f"told:{place}:{number}"
            if digest_id and line.kind != "reminded":
                continue
            if mark in snapshot.marks or not await store.record_mark(review.id, mark):
                continue
            if digest_id and not await store.try_lock(f"remind {digest_id}", REMINDER_PAUSE):
                continue
            try:
                await self._messages.reply(place, ref, line)
            except Undeliverable as error:
                log.warning("review %s: a thread line could not be posted: %s", review.id, error)
            except Unreachable as error:
                # A second reminder does no harm. Without one, people may not look again.
                if isinstance(error, NotSent) or line.kind == "reminded":
                    await store.drop_mark(review.id, mark)
                    if digest_id:
                        await store.drop_lock(f"remind {digest_id}")
                raise

        if not digest_id:
            await self._post_doubt_line(snapshot, place, ref)

    async def _post_doubt_line(self, snapshot: Snapshot, place: Place, ref: MessageRef) -> None:
        """Post one line about the calls that are in doubt since the last one: a message that changes notifies
        nobody.
        """
        review, store = snapshot.review, self._reviews.store
        new = await self._mark_doubts(snapshot, place)
        if not new:
            return
        try:
            await self._messages.reply(place, ref, doubt_line(review, new))
        except Undeliverable as error:
            log.warning("review %s: a thread line could not be posted: %s", review.id, error)
        except Unreachable:  # a second line does no harm
            for call in new:
                await store.drop_mark(review.id, _doubt_mark(review, place, call))
            raise

    async def _mark_doubts(self, snapshot: Snapshot, place: Place) -> list[Call]:
        """Mark the calls in doubt as told at this place. Returns those that were not. A held review asks
        nothing.
        """
        review, new = snapshot.review, list[Call]()
        for call in () if snapshot.held else review.calls_in_doubt:
            mark = _doubt_mark(review, place, call)
            if place.base not in review.places_of(call) or mark in snapshot.marks:
                continue
            if await self._reviews.store.record_mark(review.id, mark):
                new.append(call)
        return new

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
        copy, and of a card that was posted again.
        """
        if since is None and place == place.base:
            mark = _again_mark(place)
            times = [
                float(one.removeprefix(mark)) for one in snapshot.marks if one.startswith(mark)
            ]
            if not times:
                return
            since = min(times)
        found = await self._messages.find(snapshot, place, since or 0.0)
        await self._messages.delete_others(found, keep)


def _again_mark(place: Place) -> str:
    """Before the time at which a card was posted again, because somebody deleted it: that post may be applied
    late, as a first one.
    """
    return f"again:{place}:"


def _doubt_mark(review: Review, place: Place, call: Call) -> str:
    return f"told:{place}:doubt:{call.key}:{review.runs[call.key].attempt}"


def forget_shown_versions(snapshot: Snapshot) -> Snapshot:
    """The snapshot without shown versions: what the messages show is unknown."""
    return replace(snapshot, shown={})


def has_waiting(review: Review, place: Place) -> bool:
    """Whether anything waits for people at this place."""
    return bool(open_items(review, place))


def is_over(review: Review) -> bool:
    """Whether the review needs no more decisions."""
    return review.status == "done" or review.cancelled is not None
