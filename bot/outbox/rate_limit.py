"""The rate limits of a channel: a call waits for its turn, and is repeated while the channel refuses it."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from hitl_core.store import Store

from ..channels.contract import Channel, RateLimited

log = logging.getLogger(__name__)

T = TypeVar("T")

#: In seconds. A refusal that comes later than this after the last pause is a first one again: another bot may
#: have been accepted meanwhile.
FORGET_AFTER = 300.0


class _Queue:
    """The calls of this process that wait for one limit. It lives as long as one of them, or until one is
    accepted after a refusal.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.lock, self._clock = asyncio.Lock(), clock
        #: How often the channel refused a call in a row; and until when no call is made after that.
        self.refusals, self._until = 0, 0.0
        #: When the next call is free, as far as it is known here.
        self._free_at = 0.0

    def note_wait(self, seconds: float) -> None:
        self._free_at = self._clock() + seconds

    def check(self, patience: float) -> None:
        """Raises RateLimited if no call is free for longer than this."""
        if (seconds := self._free_at - self._clock()) > patience:
            raise RateLimited(seconds)

    def note_refusal(self, limited: RateLimited) -> float:
        """How many seconds nobody calls now. Several calls that were made at once count as one refusal."""
        now = self._clock()
        if self._until <= now:
            self.refusals = 1 if now - self._until > FORGET_AFTER else self.refusals + 1
            self._until = now + limited.pause(self.refusals)
        seconds = max(limited.seconds or 0.0, self._until - now)
        self.note_wait(seconds)
        return seconds


class RateLimit:
    """The rate limits of calls to a channel, which all bots share. `factor` slows the calls down; 0.0: no
    limit. `conversation` is the id of the conversation.
    """

    def __init__(
        self, store: Store, factor: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._factor, self._clock = store, factor, clock
        self._queues: WeakValueDictionary[str, _Queue] = WeakValueDictionary()
        #: Those whose last call was refused: they count the refusals also while no call waits.
        self._refused: dict[str, _Queue] = {}
        #: How many calls wait for their turn.
        self.waiting = 0

    async def post(
        self,
        channel: Channel,
        conversation: str,
        call: Callable[[], Awaitable[T]],
        patience: float = math.inf,
    ) -> T:
        """Call when a post is allowed. Raises RateLimited if that takes longer than `patience` seconds."""
        interval = channel.pace.message * self._factor
        name = f"post:{channel.name}:{conversation}"
        return await self._call_when_free(name, interval, 1, call, patience)

    async def update(
        self, channel: Channel, conversation: str, call: Callable[[], Awaitable[T]]
    ) -> T:
        """Call when an update is allowed."""
        pace = channel.pace
        name = f"update:{channel.name}" + f":{conversation}" * pace.is_per_conversation
        return await self._call_when_free(name, pace.update * self._factor, pace.update_burst, call)

    async def _call_when_free(
        self,
        name: str,
        interval: float,
        burst: int,
        call: Callable[[], Awaitable[T]],
        patience: float = math.inf,
    ) -> T:
        """Wait for a free slot, then call. A rate-limited call had no effect, so it is repeated until it is
        accepted. Raises the call's other errors, StoreUnavailable, and RateLimited after `patience`.
        """
        queue = self._queues.setdefault(name, _Queue(self._clock))
        while True:
            queue.check(patience)
            self.waiting += 1
            try:
                # In this process, the task that waits longest calls next.
                async with queue.lock:
                    while (wait := await self._store.take_slot(name, interval, burst)) > 0:
                        queue.note_wait(wait)
                        queue.check(patience)
                        await asyncio.sleep(wait)
            finally:
                self.waiting -= 1
            try:
                result = await call()
            except RateLimited as limited:
                seconds = queue.note_refusal(limited)
                self._refused[name] = queue
                log.info("%s: no call for %.0f s: %s", name, seconds, limited)
                await self._store.pause_slots(name, seconds)
            else:
                queue.refusals = 0
                self._refused.pop(name, None)
                return result
