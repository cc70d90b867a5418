"""The store in memory, for tests: it behaves like the Redis store, but nothing survives the process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence

from hitl_core.audit import PolicyChanged, link_entry
from hitl_core.model import (
    REDRAW_KINDS,
    UNAUDITED_KINDS,
    Arguments,
    Event,
    MessageRef,
    Place,
    Snapshot,
    is_id_prefix,
)
from hitl_core.store.contract import (
    MAX_DECIDED,
    MAX_REJECTED,
    LiveReview,
    RejectedCall,
    WaitingPage,
    Workload,
    Write,
    delivery_event,
    head_start,
    is_decision_event,
)
from hitl_core.store.memory.history import MemoryHistory
from hitl_core.store.memory.key_values import MemoryKeyValues
from hitl_core.store.memory.ledger import MemoryLedger


class MemoryStore(MemoryKeyValues, MemoryHistory):
    """See `Store` for the methods. `clock` returns seconds since the epoch."""

    partitions = 1

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        MemoryKeyValues.__init__(self, clock)
        MemoryHistory.__init__(self, clock)
        self._posts: dict[str, dict[Place, MessageRef]] = {}
        self._shown_versions: dict[str, dict[Place, int]] = {}
        self._hints: list[tuple[str, str]] = []
        self._hint_positions: dict[str, int] = {}
        self._change_position: int | None = None
        self._chains: dict[str, str] = {}
        self._policies: dict[str, str] = {}
        self._marks: dict[str, set[str]] = {}
        self._last_refusals: dict[str, str | None] = {}
        self._waiting: dict[str, dict[str, float]] = {}
        self._decisions: dict[str, dict[str, float]] = {}
        self._rejected: dict[tuple[str, str], dict[RejectedCall, float]] = {}
        self._changes: list[str] = []
        self.ledger = MemoryLedger()

    async def load(self, review_id: str) -> Snapshot | None:
        review = self._reviews.get(review_id)
        if review is None:
            return None
        return Snapshot(
            review=review,
            posts=dict(self._posts.get(review_id, {})),
            shown=dict(self._shown_versions.get(review_id, {})),
            now=self._clock(),
            chain=self._chains.get(review_id, ""),
            marks=frozenset(self._marks.get(review_id, ())),
            held=review_id in self._held,
        )

    async def load_outline(self, review_id: str) -> Snapshot | None:
        if (snapshot := await self.load(review_id)) is None:
            return None
        outline = snapshot.review.model_copy(update={"args": {}})
        return snapshot.model_copy(update={"review": outline})

    async def load_arguments(self, review_id: str, names: Sequence[str]) -> dict[str, Arguments]:
        review = self._reviews.get(review_id)
        if review is None:
            return {}
        return {name: review.args[name] for name in names if name in review.args}

    async def commit(self, write: Write) -> bool:
        review = write.review
        stored = self._reviews.get(review.id)
        if (stored.version if stored else 0) != review.version - 1:
            return False
        if self._chains.get(review.id, "") != write.chain:
            return False
        if review.id in self._held and not write.releases:
            return False
        self._held.discard(review.id)
        self._reviews[review.id] = review
        for index, at in ((self._due, write.due_at), (self._ready, write.ready_at)):
            index.pop(review.id, None)
            if at is not None:
                index[review.id] = at
        for audience in write.audiences_removed:
            self._waiting.get(audience, {}).pop(review.id, None)
        for audience in write.audiences_added:
            self._waiting.setdefault(audience, {})[review.id] = review.created_at
        rejected = self._rejected.setdefault((review.agent, review.thread_id), {})
        for call in write.rejected_removed:
            rejected.pop(call, None)
        rejected |= dict.fromkeys(write.rejected_added, write.event.at)
        for call in sorted(rejected, key=rejected.__getitem__)[:-MAX_REJECTED]:
            del rejected[call]
        if write.event.by and is_decision_event(write.event):
            self._decisions.setdefault(write.event.by.key, {})[review.id] = write.event.at
        if write.event.kind in REDRAW_KINDS:
            for place in review.places:
                self._add_card(review.id, place, write.first_post_at, head_start(write.event))
        if write.wakes_agent:
            self._hints.append((review.agent, review.id))
        if write.event.kind not in UNAUDITED_KINDS:
            self._add_entry(write.event)
        self._changed.set()
        return True

    async def record_event(self, review_id: str, event: Event) -> None:
        known = event.op is not None and self._last_refusals.get(review_id) == event.op
        if review_id in self._reviews and not known:
            self._last_refusals[review_id] = event.op
            self._add_entry(event.model_copy(update={"at": self._clock()}))

    async def record_post(
        self, review_id: str, place: Place, ref: MessageRef, gone: MessageRef | None = None
    ) -> MessageRef:
        posts = self._posts.setdefault(review_id, {})
        is_gone = place in posts and gone is not None and posts[place].key == gone.key
        if review_id in self._reviews and (is_gone or place not in posts):
            posts[place] = ref
            self._add_entry(delivery_event(review_id, place, ref, self._clock()))
        return posts.get(place, ref)

    async def record_mark(self, review_id: str, mark: str) -> bool:
        marks = self._marks.setdefault(review_id, set())
        if review_id not in self._reviews or mark in marks:
            return False
        marks.add(mark)
        return True

    async def record_policy(self, agent: str, digest: str) -> str | None:
        before, self._policies[agent] = self._policies.get(agent), digest
        if before not in (None, digest):
            now = self._clock()
            self._add_entry(PolicyChanged(agent=agent, at=now, before=before, digest=digest))
        return before

    async def record_shown_version(self, review_id: str, place: Place, version: int) -> int:
        versions = self._shown_versions.setdefault(review_id, {})
        versions[place] = max(versions.get(place, 0), version)
        return versions[place]

    async def now(self) -> float:
        return self._clock()

    async def thread_reviews(self, thread_id: str) -> list[str]:
        reviews = [review for review in self._reviews.values() if review.thread_id == thread_id]
        reviews.sort(key=lambda r: (r.status == "done", r.done_at or r.created_at))
        return [review.id for review in reviews]

    async def rejected_calls(self, agent: str, thread_id: str) -> list[RejectedCall]:
        rejected = self._rejected.get((agent, thread_id), {})
        latest = sorted(rejected, key=lambda call: (rejected[call], call.member), reverse=True)
        return latest[:MAX_REJECTED]

    async def find_ids(self, prefix: str, limit: int = 100) -> list[str]:
        if not is_id_prefix(prefix):
            return []
        return sorted(one for one in self._reviews if one.startswith(prefix))[:limit]

    async def live_ids(self, limit: int = 100) -> list[str]:
        return [review.id for review in await self.live_reviews(limit)]

    async def live_reviews(
        self, limit: int = 100, after: LiveReview | None = None
    ) -> list[LiveReview]:
        live = (review for review in self._reviews.values() if review.status != "done")
        reviews = sorted(LiveReview(review.created_at, review.id) for review in live)
        return [review for review in reviews if after is None or review > after][:limit]

    async def workload(self) -> Workload:
        live = [r.created_at for r in self._reviews.values() if r.status != "done"]
        due = min(self._due.values(), default=math.inf)
        overdue = due if due <= self._clock() else None
        return Workload(len(live), min(live, default=None), overdue)

    async def waiting_reviews(
        self, audiences: Collection[str], limit: int = 100, offset: int = 0
    ) -> WaitingPage:
        matches: dict[str, float] = {}
        for audience in audiences:
            matches |= self._waiting.get(audience, {})
        ordered = sorted(matches.items(), key=lambda each: (each[1], each[0]))
        return WaitingPage(ordered[offset : offset + limit], len(ordered))

    async def recent_decisions(
        self, reviewer: str, limit: int = 100, offset: int = 0
    ) -> list[tuple[str, float]]:
        decisions = self._decisions.get(reviewer, {}).items()
        ordered = sorted(decisions, key=lambda each: (each[1], each[0]), reverse=True)[:MAX_DECIDED]
        return ordered[offset : offset + limit]

    async def due_reviews(self, limit: int = 100) -> list[str]:
        return _due_ids(self._due, self._clock(), limit)

    async def ready_reviews(self, agent: str, limit: int = 100) -> list[str]:
        mine = {id: at for id, at in self._ready.items() if self._reviews[id].agent == agent}
        return _due_ids(mine, self._clock(), limit)

    async def agent_hints(self, agent: str, block: float) -> list[str]:
        if agent not in self._hint_positions:
            self._hint_positions[agent] = len(self._hints)
            return []
        await self._wait(lambda: len(self._hints) > self._hint_positions[agent], block)
        new, self._hint_positions[agent] = (
            self._hints[self._hint_positions[agent] :],
            len(self._hints),
        )
        return [review_id for name, review_id in new if name == agent]

    async def changes(self, block: float) -> list[str]:
        if (position := self._change_position) is None:
            self._change_position = len(self._changes)
            return []
        await self._wait(lambda: len(self._changes) > position, block)
        self._change_position = len(self._changes)
        return self._changes[position:]

    async def close(self) -> None:
        """Nothing to close."""

    def _add_entry(self, event: Event | PolicyChanged) -> None:
        """Add the event as the next entry of its review's chain, or of its agent's."""
        chain = event.review_id if isinstance(event, Event) else f"policy {event.agent}"
        line, self._chains[chain] = link_entry(event, self._chains.get(chain, ""))
        self.ledger.add(line, self._clock())
        if isinstance(event, Event):
            self._changes.append(event.review_id)
            self._changed.set()


def _due_ids(index: dict[str, float], now: float, limit: int) -> list[str]:
    due = sorted((at, review_id) for review_id, at in index.items() if at <= now)
    return [review_id for _, review_id in due[:limit]]
