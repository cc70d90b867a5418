"""Events → cards → post or update. Every change reaches every card, in order, or is seen not to."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from uuid import uuid4

from bot.delivery import Delivery
from bot.lane import Lane, Ticket
from hitl_core.errors import HitlError, told
from hitl_core.model import Place
from hitl_core.review.service import Reviews
from hitl_core.store import Hint

log = logging.getLogger(__name__)

#: The least time between two deliveries to one place, in seconds: Slack takes about one post a second.
PACE = 1.0
#: An entry that another bot left for this long is taken over. Twice the longest call to a channel.
IDLE = 8.0
#: Dead letters are tried again this often: the operator may have mended what was wrong.
REVIVE = 300.0
#: An entry that was taken up this often and never finished is given up.
MAX_DELIVERIES = 5
#: How long deliveries that are under way may take at the end, in seconds.
LAST_DELIVERIES = 2.0


class Outbox:
    """One lane a conversation, with its threads: one that is slow, limited or broken holds up no other.

    All bots of one Redis must have the same `idle`: it is when they take each other for dead.
    """

    def __init__(
        self,
        reviews: Reviews,
        delivery: Delivery,
        *,
        pace: float = PACE,
        idle: float = IDLE,
        revive: float = REVIVE,
    ) -> None:
        self._delivery = delivery
        self._pace, self._idle, self._revive_every = pace, idle, revive
        self._store = reviews.store
        self._consumer = uuid4().hex
        self.lanes: dict[Place, Lane] = {}
        self._open: dict[str, Ticket] = {}
        self._tasks = asyncio.TaskGroup()
        self._readers: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """For ever."""
        async with self._tasks as tasks:
            for step in (self._read, self._reclaim, self._hold, self._revive):
                self._readers.append(tasks.create_task(self._forever(step)))

    async def leave(self) -> None:
        """Begin nothing more, finish what was begun, and let other bots have the rest at once."""
        for reader in self._readers:
            reader.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_DELIVERIES):
                await asyncio.gather(*self._readers, return_exceptions=True)
                await asyncio.gather(*(lane.leave() for lane in self.lanes.values()))
        # Also while something is still being delivered: whoever takes it over looks for its message first.
        with contextlib.suppress(HitlError):
            await self._store.leave_events(self._consumer)

    async def _read(self) -> None:
        for hint in await self._store.read_events(self._consumer, block=2.0):
            await self._accept(hint)

    async def _reclaim(self) -> None:
        for hint in await self._store.reclaim_events(self._consumer, self._idle):
            if hint.entry not in self._open:
                await self._accept(hint)
        await asyncio.sleep(self._idle / 4)

    async def _hold(self) -> None:
        """Entries that wait in a lane are this bot's for as long as it lives."""
        await asyncio.sleep(self._idle / 4)
        if self._open:
            await self._store.hold_events(self._consumer, list(self._open))

    async def _revive(self) -> None:
        if revived := await self._store.revive():
            log.info("the undelivered cards of %d reviews are tried again", revived)
        await asyncio.sleep(self._revive_every)

    async def _accept(self, hint: Hint) -> None:
        if hint.places is None or hint.deliveries > MAX_DELIVERIES:
            why = "it can't be read" if hint.places is None else "it was taken up too often"
            log.error("review %s: its card was given up: %s", hint.review_id, why)
            await self._store.bury(hint, why)
            return
        if not hint.places:  # everything was allowed or denied: there is nothing to show
            await self._store.ack_events([hint.entry])
            return
        ticket = self._open[hint.entry] = Ticket(hint, set(hint.places))
        for place in hint.places:
            self._lane(place.partition("/")[0]).put(ticket, place)

    def _lane(self, conversation: Place) -> Lane:
        if conversation not in self.lanes:
            lane = Lane(self._delivery.deliver, self._finish, self._pace)
            self.lanes[conversation] = lane
            self._tasks.create_task(self._forever(lane.step))
        return self.lanes[conversation]

    async def _finish(self, tickets: Sequence[Ticket], place: Place, failure: str | None) -> None:
        """Acknowledged when the last place has it; buried when one refused it for good. Where the store is
        away the entry comes back by itself, since nobody holds it any more.
        """
        through: list[Ticket] = []
        for ticket in tickets:
            ticket.places.discard(place)
            ticket.failure = ticket.failure or failure
            if not ticket.places:
                self._open.pop(ticket.hint.entry, None)
                through.append(ticket)
        try:
            if shown := [ticket.hint.entry for ticket in through if not ticket.failure]:
                await self._store.ack_events(shown)
            for ticket in through:
                if ticket.failure:
                    await self._store.bury(ticket.hint, ticket.failure)
        except HitlError as error:
            review_id = tickets[0].hint.review_id
            log.warning("review %s: shown, but not ticked off: %s", review_id, error)

    async def _forever(self, step: Callable[[], Coroutine[Any, Any, None]]) -> None:
        pause = 0.1
        while True:
            try:
                await step()
                pause = 0.1
            except Exception as error:
                log.warning("outbox: %s", told(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, 2.0)
