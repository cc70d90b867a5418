"""Which turn a review is about; where the agent gives it no name, the store tells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from hitl_core.errors import InvalidToolCall
from hitl_core.model import Place
from hitl_core.model.call import is_text
from hitl_core.review.service import Reviews
from hitl_core.store.keys import partition_for, review_id


class Turn(NamedTuple):
    """Which turn of which agent a review is about, on whose behalf, and where that person asked."""

    agent: str
    thread_id: str
    name: str
    requester: str | None
    origin: Place | None = None


def id_of(turn: Turn, call_ids: Sequence[str], partitions: int) -> str:
    """The same for the same turn, in any process."""
    partition = partition_for(turn.thread_id, partitions)
    return review_id(partition, turn.agent, turn.thread_id, turn.name, call_ids)


def check_turn(turn: Turn) -> None:
    """Raises InvalidToolCall for names that could not be stored."""
    words = ("agent", "thread_id", "turn", "requester", "origin")
    for word, name in zip(words, turn, strict=True):
        if word in words[2:] and not name:
            continue
        if not isinstance(name, str) or not name or not is_text(name):
            raise InvalidToolCall(f"The {word} must be text, not {name!r:.80}.")


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
    for id in await reviews.patiently(partial(store.thread, turn.thread_id)):
        snapshot = await reviews.patiently(partial(store.load, id))
        if snapshot is None or snapshot.review.status == "done":
            return None  # the live ones stand first
        named = turn._replace(name=snapshot.review.turn)
        if named.name.startswith("#") and id_of(named, call_ids, store.partitions) == id:
            return named
    return None
