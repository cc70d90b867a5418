"""Waits until this process has claimed a settled review: one, or any that is ready. A claim is a lease."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import NamedTuple
from uuid import uuid4

from hitl_core import telemetry
from hitl_core.errors import HitlError, Refused, ReviewNotFound, StoreError, StoreUnavailable
from hitl_core.failpoints import failpoint
from hitl_core.gate.outcome import Outcome
from hitl_core.gate.waiting.listener import (
    POLL_INTERVAL,
    ReviewListener,
    wait_for_event,
)
from hitl_core.model import Review, Snapshot
from hitl_core.review import Reviews, Transition, claims, ends_late
from hitl_core.tasks import cancel_tasks

log = logging.getLogger(__name__)

#: A process may take a ready review this many places later than its turn.
SPREAD = 16


class Waiter:
    """See `Gate` for `lease` and `heartbeat_ttl`."""

    def __init__(
        self,
        reviews: Reviews,
        listener: ReviewListener,
        agent: str,
        process: str,
        lease: float,
        heartbeat_ttl: float,
    ) -> None:
        self._reviews, self._listener, self._agent = reviews, listener, agent
        self._heartbeat_ttl = heartbeat_ttl
        self._claims = Claims(reviews, listener, agent, process, lease)
        self._cleanup_tasks: set[asyncio.Task[None]] = set()

    async def finish_cleanup(self, timeout: float) -> None:
        """Wait until ended waits have written their last changes, for at most `timeout` seconds. What is not
        written then is not needed: the heartbeat of this process ends.
        """
        if self._cleanup_tasks:
            await asyncio.wait(self._cleanup_tasks, timeout=timeout)
        await cancel_tasks(self._cleanup_tasks)

    @contextlib.contextmanager
    def reserve(self, review_id: str) -> Generator[asyncio.Event, None, None]:
        """In this block, the process waits for the review: the event is set when it may have changed. A block
        that fails, or is cancelled, leaves the review to the other processes, also if it is not known whether
        the review was stored.
        """
        try:
            with self._listener.watch(review_id) as event:
                yield event
        except (Exception, asyncio.CancelledError):
            if not self._listener.is_watched(review_id):
                task = asyncio.create_task(self._claims.stop_waiting(review_id))
                self._cleanup_tasks.add(task)
                task.add_done_callback(self._cleanup_tasks.discard)
            raise

    async def wait(self, review_id: str) -> Outcome:
        """See `Gate.wait`."""
        with self.reserve(review_id) as event:
            while True:
                self._listener.check_open()
                try:
                    outcome, seconds = await self._claims.poll(review_id)
                    if outcome is not None:
                        return outcome
                except StoreUnavailable:
                    seconds = 1.0
                except StoreError:
                    self._listener.check_open()  # the store fails when the gate was closed
                    raise
                await wait_for_event(event, seconds)

    async def outcomes(self) -> AsyncGenerator[Outcome, None]:
        """See `Gate.outcomes`."""
        store = self._reviews.store
        with self._listener.watch(None) as event:
            while True:
                self._listener.check_open()
                seconds, missing = POLL_INTERVAL, set[int]()
                try:
                    ready = await store.ready_reviews(self._agent, 1000, missing)
                    for review_id in _vary_order(ready):
                        try:
                            if (free := await self._claims.load_free(review_id)) is None:
                                seconds = self._heartbeat_ttl / 3
                            elif outcome := await self._claims.claim(review_id, free):
                                only = [outcome]
                                # Without a reference here, so that an unused outcome is not renewed.
                                del outcome
                                yield only.pop()
                        except (StoreError, ReviewNotFound) as error:
                            # One review that can't be claimed must not stop the others.
                            log.warning("Review %s can't be claimed: %s", review_id, error)
                except StoreUnavailable:
                    seconds = 1.0
                except StoreError:
                    self._listener.check_open()
                    raise
                await wait_for_event(event, min(seconds, 1.0) if missing else seconds)


class Claims(NamedTuple):
    """The claims of one process. `lease`, in seconds, is how long a claim stays valid without a renewal."""

    reviews: Reviews
    listener: ReviewListener
    agent: str
    process: str
    lease: float

    async def stop_waiting(self, review_id: str) -> None:
        """Record that this process no longer waits: otherwise no other process would claim the review while
        this one is alive. Tries until the store takes it.
        """

        def clear_waiter(review: Review, now: float) -> Transition:
            if review.waiting_process != self.process or self.listener.is_watched(review_id):
                raise Refused("not_waiting", "Another process waits for this review.")
            return claims.set_waiting_process(review, None, now)

        op = f"leave:{uuid4().hex}"
        while True:
            try:
                self.listener.check_open()
                await self.reviews.change(review_id, op, clear_waiter)
                return
            except StoreUnavailable:
                seconds = 1.0
            except Refused as refused:
                if refused.code not in ("held", "busy"):
                    return
                seconds = POLL_INTERVAL if refused.code == "held" else 1.0
            except HitlError:
                return
            await asyncio.sleep(seconds * random.uniform(0.5, 1))

    async def poll(self, review_id: str) -> tuple[Outcome | None, float]:
        """The outcome; or None, and the seconds until the next poll."""
        hinted = self.listener.take_snapshot(review_id)
        snapshot = hinted or await self.reviews.load(review_id)
        review = snapshot.review
        check_agent(review, self.agent)
        if review.status == "done":
            return Outcome(review, self.reviews, self.lease), 0.0
        if snapshot.held:
            return None, POLL_INTERVAL  # its release wakes this process
        if ends_late(review, snapshot.now):
            await self.reviews.apply_due(review_id)
            return None, 0.0
        ready = claims.ready_at(review)
        if ready is not None and ready <= snapshot.now:
            return await self.claim(review_id, snapshot), 0.2
        alive = self.reviews.store.is_alive
        if review.waiting_process != self.process and not await alive(review.waiting_process or ""):
            op = f"await:{uuid4().hex}"
            with contextlib.suppress(Refused):  # another process may have been faster
                await self.reviews.change(
                    review_id, op, lambda r, now: claims.set_waiting_process(r, self.process, now)
                )
        return None, POLL_INTERVAL if ready is None else min(POLL_INTERVAL, ready - snapshot.now)

    async def claim(self, review_id: str, snapshot: Snapshot) -> Outcome | None:
        """The outcome if this process has the review now; None if another process was faster, or if a call is
        in doubt.
        """
        await failpoint("gate.before_claim")
        attributes = telemetry.message_attributes(snapshot.review, "receive")
        parent = snapshot.review.trace
        try:
            with telemetry.span("claim hitl.reviews", attributes, kind="CONSUMER", parent=parent):
                applied = await self.reviews.change(
                    review_id,
                    f"claim:{uuid4().hex}",
                    lambda review, now: claims.claim(review, self.process, now, self.lease),
                    snapshot,
                )
        except Refused:
            return None
        await failpoint("gate.after_claim")
        review = applied.review
        mine = review.status == "claimed" and review.lease and review.lease.holder == self.process
        return Outcome(review, self.reviews, self.lease) if mine else None

    async def load_free(self, review_id: str) -> Snapshot | None:
        """The review; None while a living process waits for it: then no other process may claim it."""
        if self.listener.is_watched(review_id):
            return None
        snapshot = await self.reviews.load(review_id)
        waiter = snapshot.review.waiting_process
        if waiter in (None, self.process) or not await self.reviews.store.is_alive(waiter):
            return snapshot
        return None


def check_agent(review: Review, agent: str) -> None:
    """Raises ReviewNotFound for a review of another agent: its calls were approved for that one."""
    if review.agent != agent:
        raise ReviewNotFound(
            f"{agent!r:.80} has no review {review.id}: it is of {review.agent!r:.80}."
        )


def _vary_order(ready: Sequence[str]) -> list[str]:
    """Mostly the oldest first, but not exactly. If all processes of an agent took the same review next, they
    would not share the work: all but one would find that another was faster.
    """
    places = [place + random.uniform(0, SPREAD) for place in range(len(ready))]
    return [review_id for _, review_id in sorted(zip(places, ready, strict=True))]
