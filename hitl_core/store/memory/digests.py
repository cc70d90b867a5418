"""Digests of the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from uuid import uuid4

from hitl_core.model import MessageRef, Place
from hitl_core.store.contract import (
    MAX_DIGEST,
    OPEN_FOR,
    Digest,
    alone_mark,
    digest_mark,
    format_member,
    lane_of,
    make_digest_id,
    parse_job,
)
from hitl_core.store.memory.history import MemoryHistory


class MemoryDigests(MemoryHistory):
    """See `Digests` for the methods."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self._digests: dict[str, Digest] = {}
        self._waits: dict[str, dict[str, float]] = {}
        self._open: dict[tuple[str, str], tuple[str, float]] = {}
        self._marks: dict[str, set[str]] = {}
        self._posts: dict[str, dict[Place, MessageRef]] = {}
        self._shown_versions: dict[str, dict[Place, int]] = {}

    async def first_posts(self, lane: str, limit: int) -> list[tuple[str, Place]]:
        posts = sorted(
            (entry.at, member)
            for member, entry in self._jobs.items()
            if entry.lane == lane and entry.is_first_post
        )
        jobs = [parse_job(lane, 0, member, "", "0 0 0") for _, member in posts]
        return [(job.review_id, job.place) for job in jobs if job.kind == "card"][:limit]

    async def add_to_digest(
        self, lane: str, place: Place, group: str, agent: str, review_ids: Sequence[str]
    ) -> str | None:
        now = self._time()
        known, until = self._open.get((lane, group), ("", 0.0))
        is_open = until > now and (found := self._digests.get(known)) and not found.closed
        has_room = is_open and self._digests[known].total + len(review_ids) <= MAX_DIGEST
        is_over = is_open and self._digests[known].message and not self._waits[known]
        id = known if has_room and not is_over else make_digest_id(0, uuid4().hex)
        taken: dict[str, float] = {}
        for one in review_ids:
            member, marks = format_member("card", one, place), self._marks.setdefault(one, set())
            entry = self._jobs.get(member)
            if entry is None or not entry.is_first_post or member in self._starts:
                continue
            if alone_mark(place) not in marks:
                taken[one] = self._jobs.pop(member).at
                self._posted_cards.add((one, place))
                marks.add(digest_mark(place, id))
        if not taken:
            return None
        before = self._digests.get(id, Digest(id, lane, place, agent, None, (), (), 0))
        self._waits[id] = self._waits.get(id, {}) | taken
        new = (*before.new, *taken)
        self._digests[id] = before._replace(new=new, total=before.total + len(taken))
        if id != known:
            self._open[lane, group] = id, now + OPEN_FOR
        at = now if before.message else min(taken.values())
        self._add_job(lane, format_member("digest", id, place), at, first=before.message is None)
        return id

    async def digest(self, id: str) -> Digest | None:
        if (found := self._digests.get(id)) is None:
            return None
        waits = self._waits[id]
        waiting = tuple(sorted(waits, key=lambda one: (waits[one], one)))
        new = tuple(one for one in waiting if one in found.new)
        return found._replace(waiting=waiting, new=new)

    async def record_digest_message(
        self, id: str, ref: MessageRef, gone: MessageRef | None = None
    ) -> MessageRef:
        if (found := self._digests.get(id)) is None:
            return ref
        if found.message in (None, gone):
            self._digests[id] = found._replace(message=ref, new=tuple(self._waits[id]))
        return self._digests[id].message or ref

    async def finish_new(self, id: str, review_ids: Collection[str]) -> None:
        if found := self._digests.get(id):
            left = tuple(one for one in found.new if one not in review_ids)
            self._digests[id] = found._replace(new=left)

    async def update_digest(self, id: str, review_id: str, *, waits: bool) -> bool:
        if (found := self._digests.get(id)) is None:
            return not waits
        known = self._waits[id]
        if waits and (found.closed or (review_id not in known and not found.message)):
            return False
        if (review_id in known) != waits:
            if waits:  # it may have left before the first post
                known[review_id] = self._time()
                self._digests[id] = found._replace(new=(*found.new, review_id))
            else:
                del known[review_id]
            await self.redraw_digest(id)
        return True

    async def redraw_digest(self, id: str) -> None:
        if (found := self._digests.get(id)) and found.message:
            self._add_job(found.lane, format_member("digest", id, found.place), self._time())

    async def leave_digest(self, id: str, place: Place, review_ids: Collection[str]) -> None:
        waits = self._waits.get(id, {})
        before = {one: waits.pop(one) for one in review_ids if one in waits}
        if before:
            await self.redraw_digest(id)
        for one in review_ids:
            marks = self._marks.get(one, set())
            if digest_mark(place, id) in marks:
                marks.discard(digest_mark(place, id))
                marks.add(alone_mark(place))
                self._posted_cards.discard((one, place))
                self._posts.get(one, {}).pop(place, None)
                self._shown_versions.get(one, {}).pop(place, None)
                member, at = format_member("card", one, place), before.get(one, self._time())
                known = self._jobs.pop(member, None)
                note = (
                    str(int(known.note) + 1) if known else ""
                )  # the one that runs is not the last
                self._add_job(lane_of(place), member, at, first=True, note=note)

    async def dissolve_digest(self, id: str, place: Place) -> None:
        if found := self._digests.get(id):
            self._digests[id] = found._replace(closed=True)
            await self.leave_digest(id, place, tuple(self._waits[id]))
