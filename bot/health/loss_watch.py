"""Detects that Redis lost writes, has values of another type under our keys, or lacks the replicas that must
confirm; reports it to the operators, and updates the cards of the held reviews.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from hitl_core.review import Reviews
from hitl_core.store import StartWarning

from .health import Health
from .readable_reviews import ReadableReviews

#: How often the history is compared, in seconds.
INTERVAL = 1.0
#: How often the types of the keys are checked, in seconds: in a Redis Cluster that is a script for each
#: partition.
KEYS_INTERVAL = 30.0
#: How often it is checked whether enough replicas confirm, in seconds.
REPLICAS_INTERVAL = 10.0
#: The most cards of held reviews that are updated. Others are updated when a person presses one of their
#: buttons.
MAX_REDRAWN = 1000

_UNKNOWN = "It is not known whether Redis loses writes"
LOST_TEXT = (
    "Redis has lost writes: it was restarted without its latest data, or replaced by a replica or an old"
    " backup that lacks them. What people decided and what agents ran shortly before may be unknown."
    " A turn that an agent submits again may have run already, and a token that was revoked may work again."
)


class LossWatch:
    """`warnings`: those about the server at the bot's start. Methods raise StoreUnavailable."""

    def __init__(
        self, reviews: Reviews, health: Health, warnings: Sequence[StartWarning] = ()
    ) -> None:
        self._reviews, self._health, self._warnings = reviews, health, warnings
        self._readable = ReadableReviews(reviews, health)
        self._held, self._history = 0, ""
        self._check_keys_at = self._check_replicas_at = 0.0

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            with self._health.report_errors("store", "history", _UNKNOWN):
                await self.tick()
            await asyncio.sleep(INTERVAL)

    async def tick(self) -> None:
        for warning in self._warnings:
            self._health.report("store", warning.subject, warning.text)
        check, known = await self._reviews.check_history(), self._history
        self._history = self._reviews.store.history
        if check.lost or known not in ("", self._history):  # other parts of this process check too
            self._health.report("store", "lost", LOST_TEXT)
        self._report_missing(check.missing)
        if check.held:
            self._health.report("store", "held", _held_text(check.held))
        elif not check.missing:
            self._health.resolve("store", "held")
        before, self._held = self._held, check.held
        if check.held > before and await self._reviews.store.try_lock("held cards", INTERVAL):
            await self._redraw_held()
        await self._check_keys()
        await self._check_replicas()

    def _report_missing(self, count: int) -> None:
        if count:
            text = _missing_text(count, self._reviews.store.partitions)
            self._health.report("store", "missing", text)
        else:
            self._health.resolve("store", "missing")

    async def _check_keys(self) -> None:
        if time.monotonic() < self._check_keys_at:
            return
        self._check_keys_at = time.monotonic() + KEYS_INTERVAL
        missing = set[int]()
        if foreign := await self._reviews.store.foreign_keys(missing):
            self._health.report("store", "keys", _foreign_text(foreign))
        elif not missing:
            self._health.resolve("store", "keys")

    async def _check_replicas(self) -> None:
        if time.monotonic() < self._check_replicas_at:
            return
        self._check_replicas_at = time.monotonic() + REPLICAS_INTERVAL
        missing = set[int]()
        if count := await self._reviews.store.missing_replicas(missing):
            self._health.report("store", "replicas", _replicas_text(count))
        elif not missing:
            self._health.resolve("store", "replicas")

    async def _redraw_held(self) -> None:
        store = self._reviews.store
        for held in await store.held_reviews(MAX_REDRAWN, set()):
            if (snapshot := await self._readable.load_outline(held.id)) is not None:
                for place in snapshot.posts:
                    await store.redraw(held.id, place)


def _foreign_text(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return (
        f"Redis has a value of another type under a key of this program ({keys[0]}{more}): another program"
        " wrote it, or it is damaged. What agents submit and people decide is refused, or not shown. See"
        " docs/redis.md, Keys."
    )


def _missing_text(count: int, all: int) -> str:
    return (
        f"{count} of the {all} partitions of Redis give no answer: clicks on their reviews are refused, and"
        " their cards, deadlines and agents wait. The others go on. If no replica takes over within a minute,"
        " look at the Redis Cluster (CLUSTER NODES)."
    )


def _replicas_text(missing: int) -> str:
    return (
        f"Of the replicas of Redis that must confirm (HITL_REDIS_WAIT_REPLICAS), {missing}"
        f" {'does' if missing == 1 else 'do'} not: nobody can decide, and agents wait. Look with INFO"
        " replication at Redis and its replicas."
    )


def _held_text(count: int) -> str:
    return (
        f"{count} review{' is' if count == 1 else 's are'} held because Redis lost writes:"
        " nobody can decide, and nothing runs. Look with “hitl reviews list --held” at what is stored, and"
        " let each go on with “hitl reviews release”, or stop it with “hitl reviews cancel”."
    )
