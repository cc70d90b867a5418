"""What digests read of the store."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.outbox.digests import DigestMaker
from bot.outbox.digests.reviews import CONCURRENCY, read_outlines
from hitl_core.errors import StoreUnavailable
from hitl_core.model import Snapshot
from hitl_core.review import Reviews
from hitl_core.store import MemoryStore
from tests.support.builders import call, policy, review_of


class Away(MemoryStore):
    async def load_outline(self, review_id: str) -> Snapshot | None:
        raise StoreUnavailable("not now")


async def test_a_store_that_is_away_is_no_reason_to_give_a_digest_up() -> None:
    """Given a digest of several reviews and a lost reply; then the lane gets the error that it tries again,
    and not a group of errors, which would be a dead letter."""
    reviews = Reviews(Away(), retry_seconds=0.0)
    with pytest.raises(StoreUnavailable):
        await read_outlines(reviews, ["0-1", "0-2", "0-3"], print)


async def test_a9_f2_no_more_reviews_are_kept_than_are_loaded_at_once() -> None:
    """Given forty reviews: an agent chooses how many there are, and how large; then each is read, at most a
    few at the same time, and none of them is kept."""
    store = MemoryStore()
    reviews = Reviews(store)
    ids = [await submit(reviews, f"t{number}") for number in range(40)]
    found, alive = list[str](), list[ref[Snapshot]]()

    class Watched(Reviews):
        async def load_outline(self, review_id: str) -> Snapshot:
            snapshot = await super().load_outline(review_id)
            alive.append(ref(snapshot))
            gc.collect()
            assert sum(one() is not None for one in alive) <= CONCURRENCY
            return snapshot

    await read_outlines(Watched(store), ids, lambda snapshot: found.append(snapshot.review.id))
    assert sorted(found) == sorted(ids)


async def test_a9_f2_each_review_is_looked_at_once(channel: SlackChannel) -> None:
    """Given more cards than the setting says, each for other people, so that none can share a message; then
    the next looks at them load none of them again."""
    loads = list[str]()

    class Counted(MemoryStore):
        async def load_outline(self, review_id: str) -> Snapshot | None:
            loads.append(review_id)
            return await super().load_outline(review_id)

    store = Counted()
    reviews = Reviews(store)
    ids = [
        await submit(reviews, f"t{number}", reviewers={"users": [f"U0{number}AAAAAA"]})
        for number in range(8)
    ]
    maker = DigestMaker(reviews, Channels(channel), 4)
    for _ in range(3):
        await maker.gather("default")
        maker._next_try.clear()
    assert sorted(loads) == sorted(ids)


async def submit(reviews: Reviews, thread: str, **rule: Any) -> str:
    made = review_of([call("mail")], by=policy(mail=rule), thread_id=thread)
    return (await reviews.submit(*made)).id
