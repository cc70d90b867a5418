"""Detects that Redis lost writes. Each process remembers the last audit entry that it has seen of each
partition, and the scripts check that it is still there. If not, the live reviews are held.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple, cast
from uuid import uuid4

from hitl_core.errors import StoreUnavailable
from hitl_core.model import EventKind
from hitl_core.store.contract import HeldReview, HistoryCheck
from hitl_core.store.redis.connection import Client, execute_both, store_errors
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.keys import Keys, parse_partition
from hitl_core.store.redis.part import RedisPart
from hitl_core.store.redis.scripts import read_script

log = logging.getLogger(__name__)

#: Events that are acknowledged only after replicas have confirmed them, see `confirm`.
CONFIRMED_KINDS: frozenset[EventKind] = frozenset(
    {
        "submitted",
        "voted",
        "edited",
        "decided",
        "cancelled",
        "resolved",
        "released",
        "claimed",
        "started",
    }
)
#: How long replicas may take to confirm a write. The whole command must end within COMMAND_TIMEOUT.
WAIT_MILLISECONDS = 800
#: How many histories of a partition are remembered. A process that knows none of them reports a loss.
_MAX_HISTORIES = 16


class Seen(NamedTuple):
    """What this process has seen of a partition: the id of its history, and its last entry ("" for none)."""

    history: str
    entry: str


class RedisHistory(RedisPart):
    """See `History` for the methods."""

    def __init__(
        self, redis: Client, reader: Client, keys: Sequence[Keys], retention: float
    ) -> None:
        super().__init__(redis, reader, keys, retention)
        #: How many replicas must confirm what people and agents decide on.
        self.wait_replicas = 0
        self._seen: dict[int, Seen] = {}
        self._found_loss = False

    @property
    def history(self) -> str:
        return " ".join(seen.history for _, seen in sorted(self._seen.items()))

    async def check_history(self) -> HistoryCheck:
        missing = set[int]()
        held = sum(await self._ask_each(self._check_partition, missing))
        found, self._found_loss = self._found_loss, False
        return HistoryCheck(found, held, len(missing))

    async def hold_live_reviews(self) -> int:
        held = await self._ask_each(partial(self._check_partition, hold=True))
        self._found_loss = False  # a person did it, so it is no found loss
        return sum(held)

    async def held_reviews(
        self, limit: int = 100, missing: set[int] | None = None
    ) -> list[HeldReview]:
        async def read(partition: int) -> list[tuple[bytes, float]]:
            held = self._keys[partition].held
            async with store_errors():
                return await self._redis.zrange(held, 0, limit - 1, withscores=True)

        page = chain(*await self._ask_each(read, missing))
        return sorted(HeldReview(score, text_of(member)) for member, score in page)[:limit]

    async def confirm(self, review_id: str) -> None:
        if not self.wait_replicas:
            return
        self._require_keys(review_id)
        partition = parse_partition(review_id) or 0
        entry = self._seen.get(partition, Seen("", "")).entry
        has_it, count = await self._count_confirming(partition, entry)
        if not has_it:
            await self._check_partition(partition)
            raise StoreUnavailable("Redis was replaced by a server that lacks it.")
        if count < self.wait_replicas:
            raise StoreUnavailable(
                f"Redis has stored it, but only {count} of {self.wait_replicas} replicas"
                " (HITL_REDIS_WAIT_REPLICAS) have confirmed it in time."
            )

    async def missing_replicas(self, missing: set[int] | None = None) -> int:
        if not self.wait_replicas:
            return 0
        answers = await self._ask_each(self._count_confirming, missing)
        return max(0, self.wait_replicas - min(count for _, count in answers))

    async def _count_confirming(self, partition: int, entry: str = "") -> tuple[bool, int]:
        """Whether the server has this entry of the audit; and how many of its replicas confirm a write in
        time, up to as many as are needed.
        """
        keys = self._keys[partition]
        async with store_errors():
            script = read_script("confirm")
            write = ("EVAL", script, 3, keys.confirmed, keys.audit, keys.anchors, 1000, entry)
            wait = ("WAIT", self.wait_replicas, WAIT_MILLISECONDS)
            has_it, count = await execute_both(self._redis, write, wait)
            return bool(has_it), int(count)

    async def unschedule(self, review_id: str, agent: str) -> None:
        keys = self._require_keys(review_id)
        await self._run_script("unschedule", [keys.held, keys.due, keys.ready(agent)], [review_id])

    async def drop_missing(self, review_id: str) -> bool:
        if (keys := self._find_keys(review_id)) is None:
            return False
        lists = [keys.live_reviews, keys.held, keys.due]
        removed = await self._run_script(
            "drop_missing", [keys.review(review_id), *lists], [review_id]
        )
        return bool(removed)

    async def _last_seen(self, partition: int) -> Seen:
        if partition not in self._seen:
            await self._check_partition(partition)
        return self._seen[partition]

    async def _check_partition(self, partition: int, *, hold: bool = False) -> int:
        """Returns how many reviews are held."""
        keys, seen = self._keys[partition], self._seen.get(partition, Seen("", ""))
        answer = await self._run_script(
            "check_history",
            [keys.history, keys.audit, keys.anchors, keys.live_reviews, keys.held, keys.due],
            [seen.history, seen.entry, uuid4().hex[:16], int(hold), _MAX_HISTORIES],
        )
        state, history, entry = (part.decode() for part in answer[:3])
        held = cast(int, answer[3])
        if state == "same":
            self._note_entry(partition, history, entry)
            return held
        self._seen[partition] = Seen(history, entry)
        if not hold:
            self._found_loss = True
            log.error(
                "Redis has lost writes, so reviews are held (%d). Look at them with `hitl reviews list`,"
                " and let them continue with `hitl reviews release`.",
                held,
            )
        return held

    def _note_entry(self, partition: int, history: str, entry: str) -> None:
        """Remember that this entry is stored. Replies can arrive in another order than the entries."""
        seen = self._seen.get(partition)
        if seen is None or (seen.history == history and _number(entry) > _number(seen.entry)):
            self._seen[partition] = Seen(history, entry)


def _number(entry: str) -> tuple[int, int]:
    milliseconds, _, number = entry.partition("-")
    return (int(milliseconds), int(number)) if entry else (0, 0)
