"""The rate limits of a channel: a call waits for its turn, and is repeated while the channel refuses it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from hitl_core.store import Store

from ..channels.contract import Channel, RateLimited

log = logging.getLogger(__name__)

T = TypeVar("T")


class RateLimit:
    """The rate limits of calls to a channel, which all bots share. `factor` slows the calls down; 0.0: no
    limit. `conversation` is the id of the conversation.
    """

    def __init__(self, store: Store, factor: float) -> None:
        self._store, self._factor = store, factor
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        #: How many calls wait for their turn.
        self.waiting = 0

    async def post(
        self, channel: Channel, conversation: str, call: Callable[[], Awaitable[T]]
    ) -> T:
        """Call when a post is allowed."""
        interval = channel.pace.message * self._factor
        return await self._call_when_free(f"post:{channel.name}:{conversation}", interval, 1, call)

    async def update(
        self, channel: Channel, conversation: str, call: Callable[[], Awaitable[T]]
    ) -> T:
        """Call when an update is allowed."""
        pace = channel.pace
        name = f"update:{channel.name}" + f":{conversation}" * pace.is_per_conversation
        return await self._call_when_free(name, pace.update * self._factor, pace.update_burst, call)

    async def _call_when_free(
        self, name: str, interval: float, burst: int, call: Callable[[], Awaitable[T]]
    ) -> T:
        """Wait for a free slot, then call. A rate-limited call had no effect, so it is repeated until it is
        accepted. Raises the call's other errors and StoreUnavailable.
        """
        while True:
            self.waiting += 1
            try:
                # In this process, the task that waits longest calls next.
                async with self._queues.setdefault(name, asyncio.Lock()):
                    while (wait := await self._store.take_slot(name, interval, burst)) > 0:  # noqa: ASYNC110
                        await asyncio.sleep(wait)
            finally:
                self.waiting -= 1
            try:
                return await call()
            except RateLimited as limited:
                log.info("%s: rate limited for %.0f s", name, limited.seconds)
                await self._store.pause_slots(name, limited.seconds)
