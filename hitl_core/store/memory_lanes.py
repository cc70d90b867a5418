"""The lanes of the store in memory: what the bots have to show."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from hitl_core.model import Place, Review
from hitl_core.store.base import Backlog, Check, Half, Job, job_of, lane_of, member_of


@dataclass
class _Entry:
    """`at` is from when it may be drawn; of one that was never shown (`first`) when it was submitted."""

    lane: str
    at: float
    first: bool
    note: str = "0"


class MemoryLanes:
    """See `Store` for what each method promises."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._time = clock
        self._reviews: dict[str, Review] = {}
        self._entries: dict[str, _Entry] = {}
        self._begun: dict[str, str] = {}
        self._turns: dict[str, str] = {}
        self._number = 0
        self._shown_at: set[tuple[str, Place]] = set()
        self._letters: list[tuple[str, str, _Entry]] = []
        self._leases: dict[str, tuple[str, float]] = {}
        self._slots: dict[str, float] = {}
        self._lane_hints: list[str] = []
        self._heard_lanes: int | None = None
        self._changed = asyncio.Event()

    async def lanes(self, limit: int = 100) -> list[str]:
        now = self._time()
        due = sorted((one.at, one.lane) for one in self._entries.values() if one.at <= now)
        return list(dict.fromkeys(lane for _, lane in due))[:limit]

    async def lane_hints(self, block: float) -> list[str]:
        if (heard := self._heard_lanes) is None:
            self._heard_lanes = len(self._lane_hints)
            return []
        await self._wait(lambda: len(self._lane_hints) > heard, block)
        self._heard_lanes = len(self._lane_hints)
        return list(dict.fromkeys(self._lane_hints[heard:]))

    async def hold_lanes(self, lanes: Sequence[str], bot: str, ttl: float) -> set[str]:
        now, held = self._time(), set[str]()
        for lane in lanes:
            holder, until = self._leases.get(lane, (bot, 0.0))
            if holder == bot or until <= now:
                self._leases[lane] = bot, now + ttl
                held.add(lane)
        return held

    async def leave_lane(self, lane: str, bot: str) -> None:
        if self._leases.get(lane, ("", 0.0))[0] == bot:
            del self._leases[lane]

    async def take(self, lane: str, half: Half) -> Job | None:
        now = self._time()
        found = [
            (entry.at, member)
            for member, entry in self._entries.items()
            if entry.lane == lane and entry.first == (half == "post") and entry.at <= now
        ]
        if not found:
            return None
        _, member = min(found)
        times, since, *_ = self._begun.get(member, f"0 {now:.6f}").split(" ")
        self._number += 1
        token = self._begun[member] = f"{int(times) + 1} {since} {self._number}"
        self._turns[_card(member)] = token
        return job_of(lane, 0, member, self._entries[member].note, token)

    async def finish(self, job: Job, check: Check | None = None) -> bool:
        now, exists = self._time(), job.review_id in self._reviews
        later = check or Check("check", None)
        other = member_of(later.kind, job.review_id, job.place)
        sole = self._alone(job)
        if not sole and exists:
            self._add(job.lane, other, now, note=later.note)
        if self._begun.get(job.member) != job.token:
            return False
        del self._begun[job.member]
        if job.kind == "card":
            self._shown_at.add((job.review_id, job.place))
        entry = self._entries.get(job.member)
        if entry and exists and entry.note != job.note:
            entry.at, entry.first = now, False
        else:
            self._entries.pop(job.member, None)
        if exists and later.after is not None:
            self._add(job.lane, other, now + later.after, note=later.note)
        return sole

    async def put_back(self, job: Job) -> None:
        if self._begun.get(job.member) == job.token:
            self._begun[job.member] = f"1 {job.since:.6f}"

    async def bury(self, job: Job, why: str) -> None:
        if self._begun.get(job.member) != job.token:
            return
        del self._begun[job.member]
        self._alone(job)
        if self._entries[job.member].note == job.note:
            entry = self._entries.pop(job.member)
            self._letters.append((job.review_id, job.member, entry))

    async def buried(self) -> int:
        return len({review_id for review_id, _, _ in self._letters})

    async def revive(self) -> int:
        revived, self._letters = self._letters, []
        for _, member, entry in revived:
            self._begun.setdefault(member, "1 0")
            self._add(entry.lane, member, entry.at, first=entry.first)
        return len({review_id for review_id, _, _ in revived})

    async def redraw(
        self,
        review_id: str,
        place: Place,
        kind: Literal["check", "stray"] = "check",
        note: str = "",
    ) -> None:
        if review_id in self._reviews:
            member = member_of(kind, review_id, place)
            self._add(lane_of(place), member, self._time(), note=note)

    async def backlog(self) -> Backlog:
        oldest = min((entry.at for entry in self._entries.values()), default=math.inf)
        return Backlog(len(self._entries), oldest if oldest <= self._time() else None)

    async def slot(self, name: str, every: float, burst: int = 1) -> float:
        now = self._time()
        turn = max(self._slots.get(name, 0.0), now - every * (burst - 1))
        self._slots[name] = turn + every
        return max(turn - now, 0.0)

    async def pause_slots(self, name: str, seconds: float) -> None:
        self._slots[name] = max(self._slots.get(name, 0.0), self._time() + seconds)

    def _alone(self, job: Job) -> bool:
        """Whether nobody began anything about this card since; then nobody has a turn any more."""
        if self._turns.get(_card(job.member)) != job.token:
            return False
        del self._turns[_card(job.member)]
        return True

    def _put(self, review_id: str, place: Place, created: float, before: float) -> None:
        """A card that changed."""
        first = (review_id, place) not in self._shown_at
        at = created if first else self._time() - before
        self._add(lane_of(place), member_of("card", review_id, place), at, first=first)

    def _add(
        self, lane: str, member: str, at: float, *, first: bool = False, note: str = ""
    ) -> None:
        entry = self._entries.setdefault(member, _Entry(lane, at, first))
        entry.at = min(entry.at, at)
        entry.note = note or str(int(entry.note) + 1)
        self._lane_hints.append(lane)
        self._changed.set()

    async def _wait(self, ready: Callable[[], bool], block: float) -> None:
        try:
            async with asyncio.timeout(block):
                while not ready():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass


def _card(member: str) -> str:
    return member.partition(" ")[2]
