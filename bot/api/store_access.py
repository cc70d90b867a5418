"""The API's access to the store: only to the token's own reviews, and with a limit on parallel requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from hitl_core.errors import ReviewNotFound, StoreUnavailable
from hitl_core.model import Snapshot, Token, parse_id
from hitl_core.review import ChangeResult, Reviews, TransitionFunction
from hitl_core.store import Store

from ..web import ApiProblem

T = TypeVar("T")

#: How long an unreachable store is tried again before the client gets an error, in seconds.
RETRY_SECONDS = 1.5
#: How many requests use the store at the same time. The limit leaves connections for clicks.
MAX_CONCURRENT = 16
#: How long a request waits for its turn, in seconds. If the store can't be reached, all requests are slow.
QUEUE_TIMEOUT = 5.0


class StoreAccess:
    """Every method raises StoreUnavailable or StoreError."""

    def __init__(self, store: Store) -> None:
        self.store, self.reviews = store, Reviews(store, retry_seconds=RETRY_SECONDS)
        self._limit = asyncio.Semaphore(MAX_CONCURRENT)

    async def run_with_retry(self, call: Callable[[], Awaitable[T]]) -> T:
        """Runs a call that is safe to repeat, with retries."""
        return await self.run(partial(self.reviews.with_retry, call))

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Runs a call that does its own retries."""
        try:
            async with asyncio.timeout(QUEUE_TIMEOUT if self._limit.locked() else None):
                await self._limit.acquire()
        except TimeoutError as error:
            raise StoreUnavailable("Too many requests wait for the store.") from error
        try:
            return await call()
        finally:
            self._limit.release()

    async def load_token(self, text: str) -> Token:
        """The token with this text. Raises ApiProblem if there is none. It is read for each request, so a
        revoked token stops working at once.
        """
        id = parse_id(text)
        token = await self.run_with_retry(partial(self.store.token, id)) if id else None
        if token is None or not token.matches(text):
            raise ApiProblem(
                "unauthorized",
                "This token is unknown, revoked or malformed.",
                headers={"WWW-Authenticate": 'Bearer realm="hitl", error="invalid_token"'},
            )
        return token

    async def load_review(self, who: Token, review_id: str) -> Snapshot:
        """The review. Raises the same ApiProblem for another agent's review and for a missing one."""
        try:
            snapshot = await self.run(partial(self.reviews.load, review_id))
        except ReviewNotFound:
            snapshot = None
        if snapshot is None or snapshot.review.agent != who.agent:
            raise ApiProblem(
                "not_found", "There is no such review, or it was deleted after its retention time."
            )
        return snapshot

    async def change(self, review_id: str, op: str, transition: TransitionFunction) -> ChangeResult:
        """Raises what the transition raises, and Refused("busy")."""
        return await self.run(partial(self.reviews.change, review_id, op, transition))
