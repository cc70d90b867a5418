"""Which turn a review is about, where the agent gives it no name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hitl_core.gate.request import Turn, id_of
from hitl_core.review.service import Reviews


async def next_turn(reviews: Reviews, turn: Turn, call_ids: Sequence[str]) -> Turn:
    """The one of #1, #2, … that is not done, else the next: galloping, as a thread may have many.

    Raises StoreUnavailable.
    """
    partitions = reviews.store.partitions

    async def over(number: int) -> bool:
        id = id_of(turn._replace(name=f"#{number}"), call_ids, partitions)
        snapshot = await reviews.patiently(partial(reviews.store.load, id))
        return snapshot is not None and snapshot.review.status == "done"

    low, high = 0, 1
    while await over(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if await over(middle) else (low, middle)
    return await _live_turn(reviews, turn, call_ids) or turn._replace(name=f"#{high}")


async def _live_turn(reviews: Reviews, turn: Turn, call_ids: Sequence[str]) -> Turn | None:
    """Where the retention of early turns has ended, the count alone would start again at #1."""
    store = reviews.store
    for review_id in await reviews.patiently(partial(store.thread, turn.thread_id)):
        snapshot = await reviews.patiently(partial(store.load, review_id))
        if snapshot is None or snapshot.review.status == "done":
            return None  # the live ones stand first
        named = turn._replace(name=snapshot.review.turn)
        if named.name.startswith("#") and id_of(named, call_ids, store.partitions) == review_id:
            return named
    return None
