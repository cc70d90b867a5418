"""Posts the lines in the thread of a card: what happened since it was posted, each once."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from hitl_core.model import Call, MessageRef, Place, Review, Snapshot
from hitl_core.review import Reviews

from ..card import ThreadLine, doubt_line, thread_lines
from ..channels.contract import MessageGone, NotSent, RateLimited, Undeliverable
from ..health import Health
from ..offload import offload_drawing
from .lane import REPORT_AFTER
from .messages import Messages

log = logging.getLogger(__name__)

#: The shortest time between two reminders in a digest's thread, in seconds.
REMINDER_PAUSE = 600.0
#: A line that waits is tried again within this many seconds, unless another bot has the conversation now.
MAX_LINE_PAUSE = 300.0


class ThreadSync:
    """Places may be members' copies. Methods raise ChannelErrors and StoreUnavailable.

    A mark of the review says that a line was posted. A line that calls people is marked after its post: if
    the bot dies between the two, it is posted again, which does no harm, but without it people may not look
    again. Any other line is marked right before its post, so it may be missing, and is never posted twice.
    """

    def __init__(self, reviews: Reviews, messages: Messages, health: Health) -> None:
        self._reviews, self._messages, self._health = reviews, messages, health
        #: When lines of each conversation were put off first and last, by `time.monotonic`.
        self._waiting: dict[str, tuple[float, float]] = {}

    async def post_lines(
        self, snapshot: Snapshot, place: Place, ref: MessageRef, digest_id: str | None = None
    ) -> None:
        """Post the new lines. A digest's thread only gets reminders, one for all its reviews in
        REMINDER_PAUSE.
        """
        review = snapshot.review
        for line in await _lines(review, place):
            mark = _line_mark(place, line)
            if mark in snapshot.marks:
                continue
            if not digest_id:
                if not await self._post(review.id, place, ref, line, [mark]):
                    return  # the lines keep their order
            elif line.kind == "reminded":
                await self._remind_in_digest(review.id, place, ref, line, mark, digest_id)
        if not digest_id and (calls := _new_doubts(snapshot, place)):
            marks = [_doubt_mark(review, place, call) for call in calls]
            await self._post(review.id, place, ref, doubt_line(review, calls), marks)

    async def mark_calls(self, snapshot: Snapshot, place: Place) -> None:
        """Mark the lines that call people as told, because a new message at this place calls them."""
        review = snapshot.review
        marks = [_line_mark(place, one) for one in await _lines(review, place) if one.people]
        marks += [_doubt_mark(review, place, call) for call in _new_doubts(snapshot, place)]
        for mark in marks:
            await self._reviews.store.record_mark(review.id, mark)

    async def _post(
        self, review_id: str, place: Place, ref: MessageRef, line: ThreadLine, marks: Sequence[str]
    ) -> bool:
        """Post the line. False if it is posted later: the channel limits posts, and updates must not wait."""
        store, begun = self._reviews.store, bool(line.people)

        async def record() -> bool:
            return any([await store.record_mark(review_id, mark) for mark in marks])

        async def begin() -> bool:
            nonlocal begun
            begun = begun or await record()
            return begun

        try:
            await self._messages.reply(place, ref, line, begin)
        except Undeliverable as error:
            log.warning("review %s: a thread line could not be posted: %s", review_id, error)
            if line.people and not isinstance(error, MessageGone):  # who is called must not miss it
                raise
        except (NotSent, RateLimited) as error:
            for mark in marks if begun and not line.people else ():
                await store.drop_mark(review_id, mark)
            if not isinstance(error, RateLimited):
                raise
            await store.redraw(review_id, place.base, "card", delay=error.pause())
            self._note_wait(place, ref, error)
            return False
        if line.people:
            await record()
        if self._waiting.pop(ref.conversation, None):
            self._health.resolve("delivery", f"lines {ref.conversation}")
        return True

    def _note_wait(self, place: Place, ref: MessageRef, limited: RateLimited) -> None:
        """Report lines that wait for too long: their jobs succeed, so nothing else would say it."""
        now = time.monotonic()
        first, last = self._waiting.get(ref.conversation, (now, now))
        first = now if now - last > MAX_LINE_PAUSE else first
        self._waiting[ref.conversation] = first, now
        if now - first >= REPORT_AFTER:
            text = f"Lines below cards at {place} wait, also those that call people: {limited}."
            self._health.report("delivery", f"lines {ref.conversation}", text)

    async def _remind_in_digest(
        self,
        review_id: str,
        place: Place,
        ref: MessageRef,
        line: ThreadLine,
        mark: str,
        digest_id: str,
    ) -> None:
        store, key = self._reviews.store, f"remind:{digest_id}"
        if await store.temporary_value(key) is not None:  # another review's reminder is there
            await store.record_mark(review_id, mark)
            return
        if await self._post(review_id, place, ref, line, [mark]):
            await store.save_temporary_value(key, b"1", REMINDER_PAUSE)


async def _lines(review: Review, place: Place) -> tuple[ThreadLine, ...]:
    return await offload_drawing(review, lambda: thread_lines(review, place.base))


def _line_mark(place: Place, line: ThreadLine) -> str:
    return f"told:{place}:{line.key}"


def _new_doubts(snapshot: Snapshot, place: Place) -> list[Call]:
    """The calls in doubt that have no line at this place yet. A held review asks nothing."""
    review = snapshot.review
    return [
        call
        for call in (() if snapshot.held else review.calls_in_doubt)
        if place.base in review.places_of(call)
        and _doubt_mark(review, place, call) not in snapshot.marks
    ]


def _doubt_mark(review: Review, place: Place, call: Call) -> str:
    """A mark of its own for each reminder, so that the line is posted again."""
    run = review.runs[call.key]
    return f"told:{place}:doubt:{call.key}:{run.attempt}:{len(run.reminded)}"
