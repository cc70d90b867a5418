"""The rate limit that all bots share for calls to the channel."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from hitl_core.store import Store

from ..channels.contract import RateLimited

log = logging.getLogger(__name__)

T = TypeVar("T")

#: Every channel gets the rate of the slowest one, Slack: about one message a second in each conversation, and
#: 50 updates a minute in total with short bursts (docs.slack.dev/apis/web-api/rate-limits).
UPDATE_FACTOR, UPDATE_BURST = 1.2, 10


class RateLimit:
    """`interval` is the shortest time between two messages to one conversation, in seconds."""

    def __init__(self, store: Store, interval: float) -> None:
        self._store, self._interval = store, interval
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def post(self, conversation: tuple[str, str], call: Callable[[], Awaitable[T]]) -> T:
        """`conversation` is the channel's name and the conversation's id."""
        name = ":".join(("post", *conversation))
        return await self._call_when_free(name, self._interval, 1, call)

    async def update(self, channel: str, call: Callable[[], Awaitable[T]]) -> T:
        return await self._call_when_free(
            f"update:{channel}", self._interval * UPDATE_FACTOR, UPDATE_BURST, call
        )

    async def _call_when_free(
        self, name: str, interval: float, burst: int, call: Callable[[], Awaitable[T]]
    ) -> T:
        """Waits for a free slot and calls. A rate-limited call had no effect, so it is repeated until it is
        accepted. Raises the call's other errors and StoreUnavailable.
        """
        while True:
            # In this process the first that waits is the next to call.
            async with self._queues.setdefault(name, asyncio.Lock()):
                while (wait := await self._store.take_slot(name, interval, burst)) > 0:  # noqa: ASYNC110
                    await asyncio.sleep(wait)
            try:
                return await call()
            except RateLimited as limited:
                log.info("%s: rate limited for %.0f s", name, limited.seconds)
                await self._store.pause_slots(name, limited.seconds)
