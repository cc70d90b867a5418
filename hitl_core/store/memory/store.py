"""The store in memory, for tests: it behaves like the Redis store, but nothing survives the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from hitl_core.audit import PolicyChanged, link_entry
from hitl_core.model import (
    REDRAW_KINDS,
    STARTED_MARK,
    UNAUDITED_KINDS,
    Arguments,
    Event,
    MessageRef,
    Place,
    Review,
    Snapshot,
)
from hitl_core.store.contract import (
    MAX_AGE,
    MAX_HINT,
    MAX_REJECTED,
    AgentHint,
    Write,
    delivery_event,
    digest_mark,
    head_start,
    is_decision_event,
)
from hitl_core.store.memory.digests import MemoryDigests
from hitl_core.store.memory.key_values import MemoryKeyValues
from hitl_core.store.memory.ledger import MemoryLedger


class MemoryStore(MemoryKeyValues, MemoryDigests):
    """See `Store` for the methods. `clock` returns seconds since the epoch."""

    partitions = 1

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        MemoryKeyValues.__init__(self, clock)
        MemoryDigests.__init__(self, clock)
        self._hints: list[tuple[str, AgentHint]] = []
        self._hint_positions: dict[str, int] = {}
        self._change_position: int | None = None
        self._chains: dict[str, str] = {}
        self._policies: dict[str, str] = {}
        self._last_refusals: dict[str, str | None] = {}
        self._changes: list[str] = []
        self.ledger = MemoryLedger()

    async def load(self, review_id: str) -> Snapshot | None:
        return self._read(review_id)

    def _read(self, review_id: str) -> Snapshot | None:
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
            held_since=self._held.get(review_id),
        )

    async def load_outline(self, review_id: str) -> Snapshot | None:
        if (snapshot := await self.load(review_id)) is None:
            return None
        outline = snapshot.review.model_copy(update={"args": {}})
        return replace(snapshot, review=outline)

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
        if write.read_at is not None and self._clock() > write.read_at + MAX_AGE:
            return False
        if review.id in self._held:
            marks = self._marks.get(review.id, set[str]())
            started = sum(mark.startswith(STARTED_MARK) for mark in marks)
            if not (write.releases or write.stays_held) or started != write.started_marks:
                return False
        if write.releases:
            self._held.pop(review.id, None)
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
        if write.event.kind not in UNAUDITED_KINDS:
            self._add_entry(write.event)
        if write.wakes_agent:
            self._hints.append((review.agent, self._make_hint(review)))
        self._changed.set()
        return True

    async def record_event(self, review_id: str, event: Event) -> None:
        known = event.op is not None and self._last_refusals.get(review_id) == event.op
        if review_id in self._reviews and not known:
            self._last_refusals[review_id] = event.op
            self._add_entry(event.model_copy(update={"at": self._clock()}))

    async def record_post(
        self,
        review_id: str,
        place: Place,
        ref: MessageRef,
        gone: MessageRef | None = None,
        digest_id: str | None = None,
    ) -> MessageRef:
        marks = self._marks.get(review_id, set())
        if digest_id and digest_mark(place, digest_id) not in marks:
            return ref
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

    async def drop_mark(self, review_id: str, mark: str) -> None:
        self._marks.get(review_id, set()).discard(mark)

    async def record_policy(self, agent: str, policy_hash: str) -> str | None:
        before, self._policies[agent] = self._policies.get(agent), policy_hash
        if before not in (None, policy_hash):
            now = self._clock()
            self._add_entry(
                PolicyChanged(agent=agent, at=now, before=before, policy_hash=policy_hash)
            )
        return before

    async def record_shown_version(self, review_id: str, place: Place, version: int) -> int:
        versions = self._shown_versions.setdefault(review_id, {})
        versions[place] = max(versions.get(place, 0), version)
        return versions[place]

    async def now(self) -> float:
        return self._clock()

    def _make_hint(self, review: Review) -> AgentHint:
        size = sum(len(each.data) for each in review.args.values())
        if review.waiting_process is None or size > MAX_HINT:
            return AgentHint(review.id)
        snapshot = self._read(review.id)
        return AgentHint(review.id, lambda: snapshot)

    async def agent_hints(self, agent: str, block: float) -> list[AgentHint]:
        if agent not in self._hint_positions:
            self._hint_positions[agent] = len(self._hints)
            return []
        await self._wait(lambda: len(self._hints) > self._hint_positions[agent], block)
        new, self._hint_positions[agent] = (
            self._hints[self._hint_positions[agent] :],
            len(self._hints),
        )
        return [hint for name, hint in new if name == agent]

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
