"""The key of a review: which turn of which agent it is about. If the agent doesn't name its turns, they are
counted in the store.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from hitl_core.errors import InvalidToolCall
from hitl_core.model import Place, Review
from hitl_core.review import Reviews
from hitl_core.store import ThreadState, choose_partition, make_review_id

#: A conversation by its id, and optionally a thread in it by the id of its first message. Never a name, which
#: people can change.
_ORIGIN_PATTERN = re.compile(
    r"slack:[CDG][A-Z0-9]{1,30}(?:/[0-9]{1,12}\.[0-9]{6})?"
    r"|teams:19:[^\s;/>]{1,300}@[a-z0-9.]{1,50}(?:/[0-9]{1,20})?"
)


class ReviewKey(NamedTuple):
    """Which turn of which agent a review is about, for which requester, and where that person asked."""

    agent: str
    thread_id: str
    turn: str
    requester: str | None
    origin: str | None = None


def review_id_for(key: ReviewKey, call_ids: Sequence[str], partitions: int) -> str:
    """The same id for the same turn, in any process."""
    partition = choose_partition(key.thread_id, partitions)
    return make_review_id(partition, key.agent, key.thread_id, key.turn, call_ids)


async def find_review(reviews: Reviews, key: ReviewKey, call_ids: Sequence[str]) -> Review | None:
    """The review of these calls; None if they have none. Raises StoreUnavailable."""
    id = review_id_for(key, call_ids, reviews.store.partitions)
    snapshot = await reviews.with_retry(partial(reviews.store.load, id))
    return snapshot and snapshot.review


async def open_turn(
    reviews: Reviews, key: ReviewKey, call_ids: Sequence[str], *, is_named: bool
) -> tuple[ReviewKey, ThreadState]:
    """The key of the turn to submit, and what the store knows of its thread. One read of the store is enough
    for a turn that the agent named, and for the first turn of a thread. Raises StoreUnavailable.
    """
    store = reviews.store
    first = key if is_named else key._replace(turn="#1")
    id = review_id_for(first, call_ids, store.partitions)
    state = await reviews.with_retry(partial(store.thread_state, key.agent, key.thread_id, id))
    if is_named or not (state.has_review or state.has_live):
        return first, state
    return await find_next_turn(reviews, key, call_ids), state


async def find_next_turn(reviews: Reviews, key: ReviewKey, call_ids: Sequence[str]) -> ReviewKey:
    """The first of the turns #1, #2, … that is not done. The search doubles its steps, because a thread may
    have many turns. Raises StoreUnavailable.
    """
    partitions = reviews.store.partitions

    async def is_done(number: int) -> bool:
        id = review_id_for(key._replace(turn=f"#{number}"), call_ids, partitions)
        snapshot = await reviews.with_retry(partial(reviews.store.load_outline, id))
        return snapshot is not None and snapshot.review.status == "done"

    low, high = 0, 1
    while await is_done(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if await is_done(middle) else (low, middle)
    return await _find_open_turn(reviews, key, call_ids) or key._replace(turn=f"#{high}")


async def _find_open_turn(
    reviews: Reviews, key: ReviewKey, call_ids: Sequence[str]
) -> ReviewKey | None:
    """The open turn of these calls. Needed because the count starts at #1 again when early turns were deleted
    after their retention.
    """
    store = reviews.store
    async for id in reviews.live_ids(key.thread_id):
        snapshot = await reviews.with_retry(partial(store.load_outline, id))
        if snapshot is None or snapshot.review.status == "done":
            continue
        candidate = key._replace(turn=snapshot.review.turn)
        if (
            candidate.turn.startswith("#")
            and review_id_for(candidate, call_ids, store.partitions) == id
        ):
            return candidate
    return None


def read_origin(origin: str | None) -> Place | None:
    """Raises InvalidToolCall for a text that is not a conversation or thread of Slack or Teams."""
    if origin is None:
        return None
    if not _ORIGIN_PATTERN.fullmatch(origin):
        raise InvalidToolCall(
            "The origin must be a thread such as slack:C0123ABCD/1700000000.000100 or"
            " teams:19:…@thread.tacv2/1700000000000, or a conversation by its id, such as"
            f" slack:D0123ABCD: not {origin!r:.80}."
        )
    return Place(origin)
