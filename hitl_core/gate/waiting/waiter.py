"""Waits until this process has claimed a settled review: one, or any that is ready."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator

from hitl_core.errors import ReviewNotFound, StoreError, StoreUnavailable
from hitl_core.gate.outcome import Outcome
from hitl_core.gate.waiting.claims import Claims
from hitl_core.gate.waiting.listener import POLL_INTERVAL, ReviewListener
from hitl_core.gate.waiting.watchers import wait_for_event
from hitl_core.review import Reviews

log = logging.getLogger(__name__)


class Waiter:
    """`lease` and `heartbeat_ttl` as in `Gate`."""

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
        self._claims = Claims(reviews, listener, process, lease)
        self._cleanup_tasks: set[asyncio.Task[None]] = set()

    async def finish_cleanup(self, timeout: float) -> None:
        """Waits for what cancelled waits still write, for at most `timeout` seconds."""
        if self._cleanup_tasks:
            await asyncio.wait(self._cleanup_tasks, timeout=timeout)

    async def wait(self, review_id: str) -> Outcome:
        """See `Gate.wait`."""
        try:
            with self._listener.watch(review_id) as event:
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
        except asyncio.CancelledError:
            task = asyncio.create_task(self._claims.stop_waiting(review_id))
            self._cleanup_tasks.add(task)
            task.add_done_callback(self._cleanup_tasks.discard)
            raise

    async def outcomes(self) -> AsyncGenerator[Outcome, None]:
        """See `Gate.outcomes`."""
        store = self._reviews.store
        with self._listener.watch(None) as event:
            while True:
                self._listener.check_open()
                seconds = POLL_INTERVAL
                try:
                    for review_id in await store.ready_reviews(self._agent, limit=1000):
                        try:
                            if await self._claims.has_waiter(review_id):
                                seconds = self._heartbeat_ttl / 3
                            elif (outcome := await self._claims.claim(review_id)) is not None:
                                yield outcome
                        except (StoreError, ReviewNotFound) as error:
                            # The others must not wait for it.
                            log.warning("Review %s can't be claimed: %s", review_id, error)
                except StoreUnavailable:
                    seconds = 1.0
                except StoreError:
                    self._listener.check_open()
                    raise
                await wait_for_event(event, seconds)
