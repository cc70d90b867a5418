"""Waits until this process has claimed a settled review: one, or any that is ready."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncGenerator, Generator, Sequence

from hitl_core.errors import ReviewNotFound, StoreError, StoreUnavailable
from hitl_core.gate.outcome import Outcome
from hitl_core.gate.waiting.lease import Claims
from hitl_core.gate.waiting.listener import (
    POLL_INTERVAL,
    ReviewListener,
    wait_for_event,
)
from hitl_core.review import Reviews
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


def _vary_order(ready: Sequence[str]) -> list[str]:
    """Mostly the oldest first, but not exactly. If all processes of an agent took the same review next, they
    would not share the work: all but one would find that another was faster.
    """
    places = [place + random.uniform(0, SPREAD) for place in range(len(ready))]
    return [review_id for _, review_id in sorted(zip(places, ready, strict=True))]
