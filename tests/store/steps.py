"""Steps of a store's tests: reviews that they write, and what they read back."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

import redis

from hitl_core.model import Event, MessageRef, Place, Review
from hitl_core.review import claims, decisions
from hitl_core.review.transition import Transition
from hitl_core.store import RedisStore, Store, Write
from tests.support.builders import call, person, proposal, review_of, write_of

#: Lets the store's own time pass by this many seconds.
Pass = Callable[[float], Awaitable[None]]

OPS, ELSEWHERE = Place("slack:#ops"), Place("slack:#elsewhere")
HERE = MessageRef(channel="slack", conversation="C1", ts="1.1")
THERE = MessageRef(channel="slack", conversation="C1", ts="2.2")


async def created(store: Store, *names: str, **where: Any) -> Review:
    """A stored review with one call of each tool, submitted at the store's now."""
    calls = [call(name, f"c{n}", n=n) for n, name in enumerate(names or ("ask",), start=1)]
    made = review_of(calls, now=await store.now(), partitions=store.partitions, **where)
    assert await store.commit(write_of(made, wake=True))
    return made[0]


async def waiting_cards(store: Store, count: int) -> list[str]:
    """The ids of reviews of one thread, in the order of their first cards."""
    now, ids = await store.now(), list[str]()
    for n in range(count):
        made = review_of(
            [call("ask", f"c{n}", n=n)],
            now=now - 10 + n,
            partitions=store.partitions,
            thread_id="t",
        )
        assert await store.commit(write_of(made))
        ids.append(made[0].id)
    return ids


async def stepped(store: Store, changed: Transition, *, wake: bool = False) -> Review:
    """This transition, stored as the next version."""
    write = await next_write(store, changed, wake=wake)
    assert await store.commit(write)
    return write.review


async def next_write(store: Store, changed: Transition, *, wake: bool = False) -> Write:
    after = changed.review.model_copy(update={"version": changed.review.version + 1})
    chain = await chain_of(store, after.id)
    return write_of(Transition(after, changed.event), wake=wake)._replace(chain=chain)


async def chain_of(store: Store, review_id: str) -> str:
    snapshot = await store.load(review_id)
    return snapshot.chain if snapshot else ""


async def approved(store: Store, review: Review) -> Review:
    at = await store.now()
    return await stepped(store, decisions.decide(review, "1", proposal(), person(), at), wake=True)


async def finished(store: Store, review: Review) -> Review:
    """Approved, claimed and done."""
    review = await approved(store, review)
    at = await store.now()
    review = await stepped(store, claims.claim(review, "p1", at, 30))
    return await stepped(store, claims.finish(review, review.fence, {}, at))


async def loaded(store: Store, review_id: str) -> Review:
    snapshot = await store.load(review_id)
    assert snapshot is not None
    return snapshot.review


def decided(review: Review, at: float) -> Transition:
    return decisions.decide(review, "1", proposal(), person(), at)


async def attempted(store: Store, review: Review, op: str | None) -> None:
    """Eve clicks, who may not."""
    event = Event(
        kind="refused", review_id=review.id, at=0, by=person("Eve"), what="not_allowed", op=op
    )
    await store.record_event(review.id, event)


async def audit_of(store: Store) -> list[dict[str, Any]]:
    """All entries, partition by partition."""
    return [
        json.loads(entry.line)
        for partition in range(store.partitions)
        for entry in await store.ledger.entries(partition)
    ]


@contextlib.asynccontextmanager
async def open_store(url: str, **options: Any) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(url, **options)
    try:
        yield store
    finally:
        await store.close()


def keys_of(url: str) -> set[str]:
    with redis.Redis.from_url(url, decode_responses=True) as client:
        found: Iterable[Any] = client.scan_iter()
        return set(found)
