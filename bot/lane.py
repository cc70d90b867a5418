"""The queue of one conversation: in order, each card in its newest state only, never faster than allowed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.channel import ChannelError, Limited, Unreachable
from hitl_core.errors import ReviewNotFound, StoreUnavailable, told
from hitl_core.model import Place
from hitl_core.store import Hint

log = logging.getLogger(__name__)

#: A channel or a store that is away is asked again after this many seconds at the latest.
MAX_PAUSE = 5.0


@dataclass
class Ticket:
    """One entry of the stream, with the places that still have to show it."""

    hint: Hint
    places: set[Place]
    failure: str | None = None


class Send(Protocol):
    def __call__(self, review_id: str, place: Place, *, again: bool) -> Awaitable[None]: ...


class Finish(Protocol):
    """The tickets are those of one review."""

    def __call__(
        self, tickets: Sequence[Ticket], place: Place, failure: str | None
    ) -> Awaitable[None]: ...


class Lane:
    """`pace` is the least time between two deliveries, in seconds: Slack takes about one post a second."""

    def __init__(self, send: Send, finish: Finish, pace: float) -> None:
        self._send, self._finish, self._pace = send, finish, pace
        self._queue: OrderedDict[tuple[str, Place], list[Ticket]] = OrderedDict()
        self._filled = asyncio.Event()
        self._delivering = asyncio.Lock()
        self._leaving = False
        self._free_at = 0.0

    def put(self, ticket: Ticket, place: Place) -> None:
        """A card that waits here already is drawn once, in its newest state."""
        self._queue.setdefault((ticket.hint.review_id, place), []).append(ticket)
        self._filled.set()

    async def step(self) -> None:
        """Deliver the first of the queue, however often it takes."""
        await self._filled.wait()
        if not self._queue:
            self._filled.clear()
            return
        await asyncio.sleep(self._free_at - time.monotonic())
        async with self._delivering:
            if self._leaving:
                await asyncio.Future()  # until it is cancelled: what waits here is for other bots
            (review_id, place), tickets = self._queue.popitem(last=False)
            again = any(ticket.hint.deliveries > 1 for ticket in tickets)
            failure = await self._deliver(review_id, place, again)
            self._free_at = time.monotonic() + self._pace
            await self._finish(tickets, place, failure)

    async def leave(self) -> None:
        """Deliver nothing more; returns when the one that is under way is through."""
        self._leaving = True
        async with self._delivering:
            pass

    async def _deliver(self, review_id: str, place: Place, again: bool) -> str | None:
        """None, or why it can't be delivered. Tries again as long as the channel or the store is only away;
        a card that can't even be drawn holds up no other.
        """
        pause = 0.25
        while True:
            try:
                await self._send(review_id, place, again=again)
                return None
            except Limited as limited:
                log.info("review %s: %s waits %.0f s", review_id, place, limited.seconds)
                await asyncio.sleep(limited.seconds)
            except (Unreachable, StoreUnavailable) as error:
                log.warning("review %s: %s has to wait: %s", review_id, place, error)
                again = True  # it may have been posted: look first
                await asyncio.sleep(pause)
                pause = min(pause * 2, MAX_PAUSE)
            except ReviewNotFound:
                return None
            except Exception as error:
                why = str(error) if isinstance(error, ChannelError) else told(error)
                log.error("review %s can't be shown at %s: %s", review_id, place, why)
                return why
