"""The store in memory, for tests: it keeps every promise of a store but the durable one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection

from hitl_core.audit.entry import PolicyChanged, linked
from hitl_core.model import MessageRef, Place, Snapshot
from hitl_core.model.event import SHOWN, UNAUDITED, Event
from hitl_core.store.base import (
    DECIDED,
    Gauge,
    Seat,
    Waiting,
    Write,
    delivered,
    has_say,
    head_start,
)
from hitl_core.store.memory_lanes import MemoryLanes
from hitl_core.store.memory_ledger import MemoryLedger
from hitl_core.store.memory_shelf import MemoryShelf


class MemoryStore(MemoryShelf, MemoryLanes):
    """See `Store` for what each method promises. `clock` gives seconds since the epoch."""

    partitions = 1

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        MemoryShelf.__init__(self, clock)
        MemoryLanes.__init__(self, clock)
        self._posts: dict[str, dict[Place, MessageRef]] = {}
        self._shown: dict[str, dict[Place, int]] = {}
        self._due: dict[str, float] = {}
        self._ready: dict[str, float] = {}
        self._hints: list[tuple[str, str]] = []
        self._heard: dict[str, int] = {}
        self._heard_all: int | None = None
        self._chains: dict[str, str] = {}
        self._policies: dict[str, str] = {}
        self._marks: dict[str, set[str]] = {}
        self._attempts: dict[str, str | None] = {}
        self._waiting: dict[str, dict[str, float]] = {}
        self._decided: dict[str, dict[str, float]] = {}
        self._changes: list[str] = []
        self.ledger = MemoryLedger()

    async def load(self, review_id: str) -> Snapshot | None:
        review = self._reviews.get(review_id)
        if review is None:
            return None
        return Snapshot(
            review=review,
            posts=dict(self._posts.get(review_id, {})),
            shown=dict(self._shown.get(review_id, {})),
            now=self._clock(),
            chain=self._chains.get(review_id, ""),
            marks=frozenset(self._marks.get(review_id, ())),
        )

    async def commit(self, write: Write) -> bool:
        review = write.review
        stored = self._reviews.get(review.id)
        if (stored.version if stored else 0) != review.version - 1:
            return False
        if self._chains.get(review.id, "") != write.chain:
            return False
        self._reviews[review.id] = review
        for index, at in ((self._due, write.due_at), (self._ready, write.ready_at)):
            index.pop(review.id, None)
            if at is not None:
                index[review.id] = at
        for audience in write.leaves:
            self._waiting.get(audience, {}).pop(review.id, None)
        for audience in write.joins:
            self._waiting.setdefault(audience, {})[review.id] = review.created_at
        if write.event.by and has_say(write.event):
            self._decided.setdefault(write.event.by.key, {})[review.id] = write.event.at
        if write.event.kind in SHOWN:
            for place in review.places:
                self._put(review.id, place, review.created_at, head_start(write.event))
        if write.wake:
            self._hints.append((review.agent, review.id))
        if write.event.kind not in UNAUDITED:
            self._record(write.event)
        self._changed.set()
        return True

    async def attempt(self, review_id: str, event: Event) -> None:
        known = event.op is not None and self._attempts.get(review_id) == event.op
        if review_id in self._reviews and not known:
            self._attempts[review_id] = event.op
            self._record(event.model_copy(update={"at": self._clock()}))

    async def record_post(self, review_id: str, place: Place, ref: MessageRef) -> MessageRef:
        posts = self._posts.setdefault(review_id, {})
        if review_id in self._reviews and place not in posts:
            posts[place] = ref
            self._record(delivered(review_id, place, ref, self._clock()))
        return posts.get(place, ref)

    async def record_mark(self, review_id: str, mark: str) -> bool:
        marks = self._marks.setdefault(review_id, set())
        if review_id not in self._reviews or mark in marks:
            return False
        marks.add(mark)
        return True

    async def note_policy(self, agent: str, digest: str) -> str | None:
        before, self._policies[agent] = self._policies.get(agent), digest
        if before not in (None, digest):
            now = self._clock()
            self._record(PolicyChanged(agent=agent, at=now, before=before, digest=digest))
        return before

    async def record_shown(self, review_id: str, place: Place, version: int) -> int:
        shown = self._shown.setdefault(review_id, {})
        shown[place] = max(shown.get(place, 0), version)
        return shown[place]

    async def now(self) -> float:
        return self._clock()

    async def thread(self, thread_id: str) -> list[str]:
        found = [review for review in self._reviews.values() if review.thread_id == thread_id]
        found.sort(key=lambda r: (r.status == "done", r.done_at or r.created_at))
        return [review.id for review in found]

    async def live(self, limit: int = 100) -> list[str]:
        return [seat.id for seat in await self.seats(limit)]

    async def seats(self, limit: int = 100, after: Seat | None = None) -> list[Seat]:
        live = (review for review in self._reviews.values() if review.status != "done")
        seats = sorted(Seat(review.created_at, review.id) for review in live)
        return [seat for seat in seats if after is None or seat > after][:limit]

    async def gauge(self) -> Gauge:
        live = [r.created_at for r in self._reviews.values() if r.status != "done"]
        due = min(self._due.values(), default=math.inf)
        overdue = due if due <= self._clock() else None
        return Gauge(len(live), min(live, default=None), overdue)

    async def waiting(
        self, audiences: Collection[str], limit: int = 100, offset: int = 0
    ) -> Waiting:
        found: dict[str, float] = {}
        for audience in audiences:
            found |= self._waiting.get(audience, {})
        ordered = sorted(found.items(), key=lambda each: (each[1], each[0]))
        return Waiting(ordered[offset : offset + limit], len(ordered))

    async def decided(
        self, reviewer: str, limit: int = 100, offset: int = 0
    ) -> list[tuple[str, float]]:
        found = self._decided.get(reviewer, {}).items()
        ordered = sorted(found, key=lambda each: (each[1], each[0]), reverse=True)[:DECIDED]
        return ordered[offset : offset + limit]

    async def due(self, limit: int = 100) -> list[str]:
        return _peek(self._due, self._clock(), limit)

    async def ready(self, agent: str, limit: int = 100) -> list[str]:
        mine = {id: at for id, at in self._ready.items() if self._reviews[id].agent == agent}
        return _peek(mine, self._clock(), limit)

    async def hints(self, agent: str, block: float) -> list[str]:
        if agent not in self._heard:
            self._heard[agent] = len(self._hints)
            return []
        await self._wait(lambda: len(self._hints) > self._heard[agent], block)
        new, self._heard[agent] = self._hints[self._heard[agent] :], len(self._hints)
        return [review_id for name, review_id in new if name == agent]

    async def changes(self, block: float) -> list[str]:
        if (heard := self._heard_all) is None:
            self._heard_all = len(self._changes)
            return []
        await self._wait(lambda: len(self._changes) > heard, block)
        self._heard_all = len(self._changes)
        return self._changes[heard:]

    async def close(self) -> None:
        """Nothing to let go."""

    def _record(self, event: Event | PolicyChanged) -> None:
        """As the next entry of its review's chain, or its agent's."""
        chain = event.review_id if isinstance(event, Event) else f"policy {event.agent}"
        line, self._chains[chain] = linked(event, self._chains.get(chain, ""))
        self.ledger.add(line, self._clock())
        if isinstance(event, Event):
            self._changes.append(event.review_id)
            self._changed.set()


def _peek(index: dict[str, float], now: float, limit: int) -> list[str]:
    due = sorted((at, review_id) for review_id, at in index.items() if at <= now)
    return [review_id for _, review_id in due[:limit]]
