"""Loads reviews, with retries while the store is unreachable for a moment, and builds the writes of
transitions.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from hitl_core.errors import (
    HitlError,
    ReviewConflict,
    ReviewNotFound,
    StoreError,
    StoreUnavailable,
    safe_message,
)
from hitl_core.model import Action, Review, Snapshot, person_key
from hitl_core.review import escalation, holds
from hitl_core.review.rejections import (
    MAX_CALLS,
    MAX_REVIEWS,
    Rejected,
    add_rejections,
    index_changes,
)
from hitl_core.review.runs import claims, started_calls_of
from hitl_core.review.transition import Transition
from hitl_core.store import HistoryCheck, RejectedCall, Store, ThreadReview, Write
from hitl_core.telemetry import recent_threads

log = logging.getLogger(__name__)

T = TypeVar("T")


#: How many reviews of a thread are read at once.
_PAGE = 100


def check_same_turn(stored: Review, new: Review) -> None:
    """Raises ReviewConflict if a turn that was submitted before has other arguments now, or is for another
    requester: that person could approve what was submitted for the first one.
    """
    if [(c.name, c.args_hash) for c in stored.calls] != [(c.name, c.args_hash) for c in new.calls]:
        other = "with other arguments"
    elif new.requester and person_key(new.requester) != person_key(stored.requester or ""):
        other = "for another requester"
    else:
        return
    raise ReviewConflict(
        f"The review {new.id} was already submitted {other}. Use a different `turn` for each turn of the"
        " model."
    )


class ReviewLoader:
    """Calls to an unreachable store are repeated for `retry_seconds`. Then StoreUnavailable is raised."""

    def __init__(self, store: Store, retry_seconds: float) -> None:
        self.store = store
        self._retry_seconds = retry_seconds
        self._started_calls = started_calls_of(store)

    async def with_retry(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call the store, and repeat the call while the store is unreachable. Only for calls that are safe to
        repeat. Raises StoreUnavailable.
        """
        return await _retry_until(call, time.monotonic() + self._retry_seconds)

    async def load(self, review_id: str) -> Snapshot:
        """Raises ReviewNotFound, StoreUnavailable."""
        return await self.load_until(review_id, time.monotonic() + self._retry_seconds)

    async def load_until(self, review_id: str, end: float) -> Snapshot:
        """Like `load`, but retries until `end`, by `time.monotonic`."""
        found = await _retry_until(lambda: self.store.load(review_id), end)
        return _remember(_require(review_id, found))

    async def load_outline(self, review_id: str) -> Snapshot:
        """Like `load`, without the arguments. For code that reads many reviews."""
        found = await self.with_retry(lambda: self.store.load_outline(review_id))
        return _remember(_require(review_id, found))

    async def check_history(self) -> HistoryCheck:
        """Compare what this process has seen with what is stored. After a loss, set a mark on the held
        reviews for each call that this process has started and that they don't know: the release asks people
        about these. Call it every few seconds. Raises StoreUnavailable.
        """
        check, history = await self.store.check_history(), self.store.history
        if history != self._started_calls.noted_history:
            for review_id in self._started_calls.review_ids():
                try:
                    await self._mark_held(review_id, self._started_calls.find_unrecorded)
                except StoreUnavailable:
                    raise  # the next check begins again
                except StoreError as error:  # this version can't release it either
                    log.warning("review %s: can't be read: %s", review_id, safe_message(error))
            self._started_calls.noted_history = history
        return check

    async def mark_started(
        self, review_id: str, keys: Callable[[Review], Iterable[str]] | None = None
    ) -> None:
        """Call it after a change of this review failed. If the store lost writes, mark on the held reviews
        the calls that this process has started, and `keys` on this one. It raises nothing.
        """
        with suppress(HitlError):
            await self.check_history()
            if keys is not None:
                await self._mark_held(review_id, keys)

    async def _mark_held(self, review_id: str, keys: Callable[[Review], Iterable[str]]) -> None:
        found = await self.with_retry(lambda: self.store.load_outline(review_id))
        if found is not None and found.held:
            for key in keys(found.review):
                await self.store.record_mark(review_id, holds.ran_mark(key))

    async def thread_reviews(self, thread_id: str) -> AsyncGenerator[ThreadReview, None]:
        """All reviews of the thread. They are read page by page, so a caller that stops early reads less. A
        review that becomes done meanwhile is returned twice. Raises StoreUnavailable.
        """
        after: ThreadReview | None = None
        while page := await self.with_retry(
            partial(self.store.thread_reviews, thread_id, _PAGE, after)
        ):
            for after in page:
                yield after

    async def live_ids(self, thread_id: str) -> AsyncGenerator[str, None]:
        """The ids of the thread's reviews that are not done. One may become done meanwhile."""
        async for each in self.thread_reviews(thread_id):
            if each.is_done:  # live ones come first
                return
            yield each.id

    async def follow_rejected(
        self, review: Review, of_thread: Sequence[RejectedCall] | None
    ) -> Review:
        """The new review with the rejected calls that it follows: the latest ones of its thread, of the tools
        that it asks about. Without those that are deleted by now or can't be read. `of_thread`: all rejected
        calls of the thread, if the caller has just read them.
        """
        tools = {action.request.name for action in review.actions}
        if not tools:
            return review
        if of_thread is None:
            find = partial(self.store.rejected_calls, review.agent, review.thread_id)
            of_thread = await self.with_retry(find)
        calls = [call for call in of_thread if call.tool in tools][:MAX_CALLS]
        rejected: list[Rejected] = []
        for review_id in list(dict.fromkeys(call.review_id for call in calls))[:MAX_REVIEWS]:
            keys = [call.key for call in calls if call.review_id == review_id]
            rejected += await self._load_rejected(review_id, keys)
        return add_rejections(review, rejected) if rejected else review

    async def _load_rejected(self, review_id: str, keys: Sequence[str]) -> list[Rejected]:
        try:
            found = await self.with_retry(partial(self.store.load_outline, review_id))
        except StoreError as error:
            log.warning(
                "review %s: its rejected calls can't be read: %s", review_id, safe_message(error)
            )
            return []
        if found is None:
            return []
        actions = [action for action in found.review.actions if action.key in keys]
        names = {f"{action.key}:{_last_revision(action)}": action for action in actions}
        args = await self.with_retry(partial(self.store.load_arguments, review_id, list(names)))
        return [Rejected(found.review, names[name], each) for name, each in args.items()]


def _last_revision(action: Action) -> int:
    """The newest revision for the requested tool: an edit may have chosen another tool."""
    return action.revision if action.name == action.request.name else 1


async def _retry_until(call: Callable[[], Awaitable[T]], end: float) -> T:
    """Repeat a call until `end` while the store is unreachable. Only for calls that are safe to repeat."""
    pause = 0.02
    while True:
        try:
            return await call()
        except StoreUnavailable:
            if time.monotonic() + pause > end:
                raise
        await asyncio.sleep(pause)
        pause = min(pause * 2, 0.5)


def _remember(snapshot: Snapshot) -> Snapshot:
    """Note the review's thread, so that log lines about this review have it too."""
    recent_threads.add(snapshot.review.id, snapshot.review.thread_id)
    return snapshot


def _require(review_id: str, snapshot: Snapshot | None) -> Snapshot:
    if snapshot is None:
        raise ReviewNotFound(f"There is no review {review_id}. It may be old and deleted.")
    return snapshot


def build_write(loaded: Snapshot | None, changed: Transition) -> Write:
    """The write for this change, with the new values of the store's indexes. `loaded` is None for a new
    review.
    """
    review, event = changed
    before = loaded.review if loaded else None
    ready = claims.ready_at(review)
    is_new_result = (
        review.status == "settled"
        and ready is not None
        and (event.kind == "lapsed" or before is None or claims.ready_at(before) is None)
    )
    stays_held = (
        before is not None and loaded is not None and loaded.held and not holds.ends_hold(event)
    )
    rejected_added, rejected_removed = index_changes(before, review)
    had, has = before.audiences if before else frozenset[str](), review.audiences
    return Write(
        review,
        event,
        args={k: a for k, a in review.args.items() if before is None or k not in before.args},
        due_at=None if stays_held else escalation.due_at(review),
        show_by=escalation.show_by(review),
        ready_at=None if stays_held else ready,
        wakes_agent=is_new_result or review.status == "done" or event.kind == "released",
        chain=loaded.chain if loaded else "",
        read_at=loaded.now if loaded else None,
        audiences_added=has - had,
        audiences_removed=had - has,
        rejected_added=rejected_added,
        rejected_removed=rejected_removed,
        releases=holds.ends_hold(event),
        stays_held=stays_held,
        started_marks=len(loaded.started_marks) if loaded else 0,
    )
