"""The lanes of the store in memory: the bots' jobs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from hitl_core.model import Place, Review, is_digest_id
from hitl_core.store.contract import (
    LATER,
    Backlog,
    DeadLetter,
    Job,
    LaneHalf,
    Recheck,
    RedrawKind,
    format_member,
    lane_of,
    later_member,
    parse_job,
)

#: How long an update waits at most, in seconds: take.lua has it too.
MAX_UPDATE_DELAY = 180.0
#: The beginnings of the members of updates that were put off.
_LATER_UPDATES = (f"{LATER}card ", f"{LATER}digest ")


@dataclass
class QueuedJob:
    """`at` is the earliest time of the job; for a first post, the time by which it should be shown."""

    lane: str
    at: float
    is_first_post: bool
    note: str = "0"


class MemoryLanes:
    """See `Store` for the methods."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._time = clock
        self._reviews: dict[str, Review] = {}
        self._jobs: dict[str, QueuedJob] = {}
        self._starts: dict[str, str] = {}
        self._last_tokens: dict[str, str] = {}
        self._dead_letters: dict[str, tuple[DeadLetter, QueuedJob]] = {}
        self._number = 0
        self._posted_cards: set[tuple[str, Place]] = set()
        self._leases: dict[str, tuple[str, float]] = {}
        self._slots: dict[str, float] = {}
        self._lane_hints: list[str] = []
        self._lane_hint_position: int | None = None
        self._changed = asyncio.Event()

    async def lanes(
        self, limit: int = 100, *, later: bool = False, missing: set[int] | None = None
    ) -> list[str]:
        now = math.inf if later else self._time()
        due = sorted((one.at, one.lane) for one in self._jobs.values() if one.at <= now)
        return list(dict.fromkeys(lane for _, lane in due))[:limit]

    async def lane_hints(self, block: float) -> list[str]:
        if (position := self._lane_hint_position) is None:
            self._lane_hint_position = len(self._lane_hints)
            return []
        await self._wait(lambda: len(self._lane_hints) > position, block)
        self._lane_hint_position = len(self._lane_hints)
        return list(dict.fromkeys(self._lane_hints[position:]))

    async def hold_lanes(
        self, lanes: Sequence[str], bot: str, ttl: float, unknown: set[str] | None = None
    ) -> set[str]:
        now, lanes_held = self._time(), set[str]()
        for lane in lanes:
            holder, until = self._leases.get(lane, (bot, 0.0))
            if holder == bot or until <= now:
                self._leases[lane] = bot, now + ttl
                lanes_held.add(lane)
        return lanes_held

    async def release_lane(self, lane: str, bot: str) -> None:
        if self._leases.get(lane, ("", 0.0))[0] == bot:
            del self._leases[lane]

    async def take_job(self, lane: str, half: LaneHalf, skip: Collection[str] = ()) -> Job | None:
        now = self._time()
        candidates = [
            (entry.at, member)
            for member, entry in self._jobs.items()
            if member not in skip
            and entry.lane == lane
            and entry.is_first_post == (half == "post")
            and _is_due(member, entry.at, now)
        ]
        if not candidates:
            return None
        at, member = min(candidates)
        if member.startswith(LATER):  # otherwise `finish_job` takes it for added again
            self._jobs[member].at = min(at, now)
        new = "1 0" if self._may_be_posted(member) else f"0 {now:.6f}"
        attempts, first_at, *_ = self._starts.get(member, new).split(" ")
        self._number += 1
        token = self._starts[member] = f"{int(attempts) + 1} {first_at} {self._number}"
        self._last_tokens[_card_of(member)] = token
        return parse_job(lane, 0, member, self._jobs[member].note, token, half)

    async def finish_job(self, job: Job, check: Recheck | None = None) -> bool:
        now = self._time()
        exists = job.review_id in self._reviews or is_digest_id(job.review_id)
        later = check or Recheck("check", None)
        other = format_member(later.kind, job.review_id, job.place)
        is_latest = self._is_latest(job)
        if not is_latest and exists:
            self._add_job(job.lane, other, now, note=later.note)
        if self._starts.get(job.member) != job.token:
            return False
        del self._starts[job.member]
        if job.kind == "card":
            self._posted_cards.add((job.review_id, job.place))
        entry = self._jobs.get(job.member)
        is_later = entry is not None and entry.at > now and job.member.startswith(LATER)
        if not exists or not entry or (not is_later and entry.note == job.note):
            self._jobs.pop(job.member, None)
        elif not is_later:
            entry.at, entry.is_first_post = now, False
        if exists:
            self._add_later_check(job, later)
        return is_latest

    async def put_back_job(self, job: Job) -> None:
        if self._starts.get(job.member) == job.token:
            self._starts[job.member] = f"1 {job.first_at:.6f}"

    async def redraw(
        self,
        review_id: str,
        place: Place,
        kind: RedrawKind = "check",
        note: str = "",
        *,
        delay: float = 0.0,
    ) -> None:
        if review_id in self._reviews or is_digest_id(review_id):
            lane, now = lane_of(place), self._time()
            if delay:
                later = later_member(kind, review_id, place)
                self._add_later(lane, later, now + delay, note)
            else:
                self._add_job(lane, format_member(kind, review_id, place), now, note=note)

    async def backlog(self, missing: set[int] | None = None) -> Backlog:
        oldest = min((entry.at for entry in self._jobs.values()), default=math.inf)
        return Backlog(len(self._jobs), oldest if oldest <= self._time() else None)

    async def take_slot(self, name: str, every: float, burst: int = 1) -> float:
        now = self._time()
        free_at = max(self._slots.get(name, 0.0), now - every * (burst - 1))
        if free_at <= now:
            self._slots[name] = free_at + every
        return max(free_at - now, 0.0)

    async def pause_slots(self, name: str, seconds: float) -> None:
        self._slots[name] = max(self._slots.get(name, 0.0), self._time() + seconds)

    def _may_be_posted(self, member: str) -> bool:
        """Whether a job of this card that was given up may have posted a message."""
        kind, _, card = member.partition(" ")
        given_up = {letter.review_id for letter, _ in self._dead_letters.values()}
        return kind == "card" and card.partition(" ")[0] in given_up

    def _is_latest(self, job: Job) -> bool:
        """Whether no other job of this card was started since. If so, its token is removed."""
        if self._last_tokens.get(_card_of(job.member)) != job.token:
            return False
        del self._last_tokens[_card_of(job.member)]
        return True

    def _add_card(self, review_id: str, place: Place, created: float, before: float) -> None:
        """Queue a card that changed."""
        first = (review_id, place) not in self._posted_cards
        at = created if first else self._time() - before
        self._add_job(lane_of(place), format_member("card", review_id, place), at, first=first)

    def _add_job(
        self, lane: str, member: str, at: float, *, first: bool = False, note: str = ""
    ) -> None:
        entry = self._jobs.setdefault(member, QueuedJob(lane, at, first))
        entry.at = min(entry.at, at)
        entry.note = note or str(int(entry.note) + 1)
        self._lane_hints.append(lane)
        self._changed.set()

    def _add_later(self, lane: str, member: str, at: float, note: str) -> None:
        entry = self._jobs.setdefault(member, QueuedJob(lane, at, False, note or "0"))
        is_waiting = member.startswith(_LATER_UPDATES) and entry.at > self._time()
        nearer = min if is_waiting else max  # see queue.lua
        entry.at = nearer(entry.at, at)
        entry.note = min(note, entry.note, key=float) if note else str(int(entry.note) + 1)

    def _add_later_check(self, job: Job, check: Recheck) -> None:
        if check.delay is not None:
            member = later_member(check.kind, job.review_id, job.place)
            self._add_later(job.lane, member, self._time() + check.delay, check.note)

    async def _wait(self, ready: Callable[[], bool], block: float) -> None:
        try:
            async with asyncio.timeout(block):
                while not ready():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass


def _is_due(member: str, at: float, now: float) -> bool:
    """As take.lua has it: only a later check waits for its time if the clock was set back."""
    if at <= now or not member.startswith(LATER):
        return True
    is_update = member.startswith(_LATER_UPDATES)
    return is_update and at > now + MAX_UPDATE_DELAY


def _card_of(member: str) -> str:
    return member.partition(" ")[2]
