"""Starts the calls of one claim. Each call starts once, even if a reply of the store is lost."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from uuid import uuid4

from hitl_core.errors import Refused
from hitl_core.failpoints import failpoint
from hitl_core.model import Review
from hitl_core.review import Reviews, claims, seconds_since_boot


class CallStarts:
    """`review`: the review as it was when this process claimed it."""

    def __init__(self, review: Review, reviews: Reviews) -> None:
        self._review_id, self._fence, self._reviews = review.id, review.fence, reviews
        self._unanswered: dict[str, str] = {}
        self._locks = defaultdict[str, asyncio.Lock](asyncio.Lock)

    async def start(self, key: str) -> bool:
        """Whether the call with this key may run now. Raises what `Outcome.once` raises.

        If a try gets no reply, the next try has the same operation id. So it recognizes a start that the
        first try stored, and the call can still run. Tries of one call run one after another.
        """
        async with self._locks[key]:
            operation = self._unanswered.pop(key, "") or f"once:{uuid4().hex}"
            try:
                return await self._start_as(operation, key)
            except BaseException:
                self._unanswered[key] = operation
                raise

    async def _start_as(self, operation: str, key: str) -> bool:
        await failpoint("gate.before_once")
        since = seconds_since_boot()
        try:
            applied = await self._reviews.change(
                self._review_id, operation, lambda r, now: claims.start(r, self._fence, key, now)
            )
        except Refused as refused:
            if refused.code == "already_started":
                return False
            raise
        await failpoint("gate.after_once")
        return await self._reviews.can_still_run(applied, key, self._fence, since)
