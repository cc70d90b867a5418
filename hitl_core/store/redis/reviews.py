"""Reviews in Redis: each is a hash, which the scripts read and write in one step.

`data` is the review without its arguments, packed. The arguments, and values that change no version (posts,
shown versions, marks), are separate fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hitl_core.audit import link_entry
from hitl_core.errors import StoreUnavailable
from hitl_core.model import (
    REDRAW_KINDS,
    STARTED_MARK,
    UNAUDITED_KINDS,
    Arguments,
    Event,
    Place,
    Snapshot,
)
from hitl_core.store.contract import (
    MAX_AGE,
    MAX_DECIDED,
    MAX_HINT,
    MAX_REJECTED,
    ThreadReview,
    Write,
    format_member,
    head_start,
    is_decision_event,
    lane_of,
)
from hitl_core.store.redis.connection import store_errors
from hitl_core.store.redis.fields import (
    ARGS,
    MARK,
    SHOWN,
    check_arguments,
    dump_args,
    dump_data,
    dump_entry,
    read_snapshot,
)
from hitl_core.store.redis.history import CONFIRMED_KINDS, RedisHistory, Seen
from hitl_core.store.redis.keys import Keys, parse_partition

#: After a restart of Redis, these events wait until it is known whether Redis lost writes.
_AGENT_STARTS = ("claimed", "started")
#: How often a write is tried again when other processes find that Redis lost writes.
_MAX_LOSSES = 3


class RedisReviews(RedisHistory):
    """See `ReviewStore` for the methods."""

    async def load(self, review_id: str) -> Snapshot | None:
        snapshot = await self._load(review_id, "load")
        if snapshot is not None:
            check_arguments(snapshot.review)
        return snapshot

    async def load_outline(self, review_id: str) -> Snapshot | None:
        return await self._load(review_id, "outline")

    async def load_arguments(self, review_id: str, names: Sequence[str]) -> dict[str, Arguments]:
        if not names or (keys := self._find_keys(review_id)) is None:
            return {}
        async with store_errors():
            values = await self._redis.hmget(
                keys.review(review_id), [f"{ARGS}{name}" for name in names]
            )
        pairs = zip(names, cast("list[bytes | None]", values), strict=True)
        return {name: Arguments(value) for name, value in pairs if value is not None}

    async def commit(self, write: Write) -> bool:
        places = write.review.places if write.event.kind in REDRAW_KINDS else ()
        keys = _write_keys(self._require_keys(write.review.id), write, places)
        partition = parse_partition(write.review.id)
        assert partition is not None  # `_require_keys` has checked it
        is_start = write.event.kind in _AGENT_STARTS
        for _ in range(_MAX_LOSSES):
            servers = await self._server_change.check(partition) if is_start else ""
            seen = await self._last_seen(partition)
            args = _write_args(write, places, int(self._retention * 1000), seen, servers)
            reply: bytes = await self._run_script("commit", keys, args)
            result, _, entry = reply.partition(b" ")
            if result == b"stored":
                self._note_entry(partition, seen.history, entry.decode())
                if write.event.kind in CONFIRMED_KINDS:
                    await self.confirm(write.review.id)
            if result == b"server":
                await self._server_change.meet(partition, entry.decode())
            elif result == b"history":
                await self._check_partition(partition)
            else:
                return result == b"stored"
        raise StoreUnavailable("Redis loses its writes again and again.")

    async def record_mark(self, review_id: str, mark: str) -> bool:
        keys = self._require_keys(review_id)
        return bool(await self._run_script("mark", [keys.review(review_id)], [MARK + mark]))

    async def drop_mark(self, review_id: str, mark: str) -> None:
        keys = self._require_keys(review_id)
        async with store_errors():
            await self._redis.hdel(keys.review(review_id), MARK + mark)

    async def record_shown_version(self, review_id: str, place: Place, version: int) -> int:
        keys = self._require_keys(review_id)
        return int(
            await self._run_script("shown", [keys.review(review_id)], [SHOWN + place, version])
        )

    async def _load(self, review_id: str, script: str) -> Snapshot | None:
        if (keys := self._find_keys(review_id)) is None:
            return None
        answer = await self._run_script(script, [keys.review(review_id), keys.held], [review_id])
        return read_snapshot(review_id, *answer)


def _write_keys(keys: Keys, write: Write, places: Sequence[Place]) -> list[str]:
    """The keys of commit.lua, in its order. `places`: those whose card changes with this write."""
    review = write.review
    return [
        keys.review(review.id),
        keys.thread(review.thread_id),
        keys.due,
        keys.ready(review.agent),
        keys.events,
        keys.audit,
        keys.anchors,
        keys.agent(review.agent),
        keys.live_reviews,
        keys.decisions(_decider(write.event) or ""),
        keys.queues,
        keys.change_counts,
        keys.rejected_calls(review.agent, review.thread_id),
        keys.history,
        keys.held,
        *map(keys.waiting, [*write.audiences_added, *write.audiences_removed]),
        *(keys.queue(lane_of(place)) for place in places),
    ]


def _write_args(
    write: Write, places: Sequence[Place], retention: int, seen: Seen, servers: str
) -> list[Any]:
    """The arguments of commit.lua, in its order. `retention` is in milliseconds."""
    review, event = write.review, write.event
    entry, head, data = "", write.chain, dump_data(review)
    if event.kind not in UNAUDITED_KINDS:
        entry, head = link_entry(event, write.chain)
    arguments = [part for pair in dump_args(write.args).items() for part in pair]
    return [
        review.id,
        review.version - 1,
        review.version,
        data,
        review.status,
        ThreadReview.of(review).position,
        _score(write.due_at),
        _score(write.ready_at),
        dump_entry(entry) if entry else "",
        write.chain,
        head,
        _score(write.first_post_at),
        head_start(event),
        _hint_size(write, data),
        retention if review.status == "done" else 0,
        _score(event.at if _decider(event) else None),
        retention,
        MAX_DECIDED,
        MAX_REJECTED,
        *seen,
        servers,
        "release" if write.releases else "keep" if write.stays_held else "",
        MARK + STARTED_MARK,
        write.started_marks,
        _score(None if write.read_at is None else write.read_at + MAX_AGE),
        len(arguments) // 2,
        len(write.audiences_added),
        len(write.audiences_removed),
        len(write.rejected_added),
        len(write.rejected_removed),
        len(places),
        *arguments,
        *(call.member for call in (*write.rejected_added, *write.rejected_removed)),
        *(
            part
            for place in places
            for part in (lane_of(place), place, format_member("card", review.id, place))
        ),
    ]


def _hint_size(write: Write, data: bytes) -> str:
    """How large the review may be for its hint to carry it; "0" if it is larger, or if no process waits."""
    if not write.wakes_agent:
        return ""
    size = len(data) + sum(len(each.data) for each in write.review.args.values())
    return str(MAX_HINT if write.review.waiting_process and size <= MAX_HINT else 0)


def _decider(event: Event) -> str | None:
    """The key of the person who decided, voted or edited in this event."""
    return event.by.key if event.by and is_decision_event(event) else None


def _score(at: float | None) -> str:
    return "" if at is None else f"{at:.6f}"
