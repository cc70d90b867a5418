"""The index of what waits for each person, group or place stays correct after every change of a review."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hitl_core.model import Place
from hitl_core.review import Cancel, Decide, escalation
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore, RedisStore, Store
from tests.support.builders import START, approve_all, call, person, policy, proposal, review_of

RULES: dict[str, Any] = {
    "pay": {
        "reviewers": {"users": ["U1", "U2"], "groups": ["S1"]},
        "notify": "slack:#pay",
        "escalate": [{"after": "10s", "to": "slack:#second"}],
    },
    "send": {"notify": ["slack:#first", "slack:#second"]},
}


async def submit(reviews: Reviews, *tools: str, **where: Any) -> str:
    calls = [call(tool, f"c{n}") for n, tool in enumerate(tools)]
    now = await reviews.store.now()
    made = review_of(
        calls, now=now, by=policy(**RULES), partitions=reviews.store.partitions, **where
    )
    return (await reviews.submit(*made)).id


async def waits(store: Store, *audiences: str) -> list[int]:
    return [(await store.waiting_reviews([audience])).total for audience in audiences]


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.redis)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield MemoryStore(lambda: START)
        return
    store = await RedisStore.open(request.getfixturevalue("redis_url"), partitions=2)
    yield store
    await store.close()


async def test_each_who_may_decide_finds_it_until_it_is_decided(store: Store):
    """Named people and groups, or the members of the places, also after an escalation."""
    reviews = Reviews(store)
    who = ("user:U1", "group:S1", "place:slack:#pay", "place:slack:#first", "place:slack:#second")
    review_id = await submit(reviews, "pay", "send")
    assert await waits(store, *who) == [1, 1, 0, 1, 1]

    await reviews.apply(Decide(review_id, "2", proposal(), person(), "one"))
    assert await waits(store, *who) == [1, 1, 0, 0, 0]
    await reviews.change(
        review_id,
        "up",
        lambda r, now: escalation.escalate(r, Place("slack:#pay"), person(), now, steps_on_card=0),
    )
    assert await waits(store, *who) == [1, 1, 0, 0, 1]

    await reviews.apply(Decide(review_id, "1", proposal(), person(), "two"))
    assert await waits(store, *who) == [0, 0, 0, 0, 0]
    assert [id for id, _ in await store.recent_decisions(person().key)] == [review_id]


async def test_what_was_cancelled_waits_for_nobody(store: Store):
    reviews = Reviews(store)
    review_id = await submit(reviews, "pay", "send")
    await reviews.apply(Cancel(review_id, None, "op"))
    assert (await store.waiting_reviews(["user:U1", "place:slack:#first"])).reviews == []


async def test_the_index_says_what_the_reviews_say(store: Store):
    """Given many reviews that are decided and escalated side by side; then for every audience the index
    holds exactly those that have it.
    """
    reviews = Reviews(store)
    ids = [
        await submit(reviews, *tools, thread_id=f"t-{n}")
        for n, tools in enumerate([("pay",), ("send",), ("pay", "send"), ("ask",)] * 4)
    ]
    await asyncio.gather(
        *(approve_all(reviews, id) for id in ids[::3]),
        *(
            reviews.change(
                id, "up", lambda r, now: escalation.escalate(r, Place("slack:#pay"), person(), now)
            )
            for id in (ids[2], ids[10])
        ),
        *(reviews.apply(Cancel(id, None, "op")) for id in ids[4:6]),
    )

    found = {id: (await reviews.load(id)).review.audiences for id in ids}

    for audience in {audience for some in found.values() for audience in some}:
        expected = {id for id, audiences in found.items() if audience in audiences}
        assert {id for id, _ in (await store.waiting_reviews([audience])).reviews} == expected


async def test_what_waits_in_several_ways_is_counted_once(redis_url: str):
    """Given 500 that wait for somebody in each of four ways; then it is a page of 500. More than 1,000 of one
    audience are counted without reading them.
    """
    store = await RedisStore.open(redis_url)
    audiences = ["user:U1", "group:S1", "place:a", "place:b"]
    for audience in audiences:
        await store._redis.zadd(
            store._keys[0].waiting(audience), {f"0-{n:032x}": START + n for n in range(500)}
        )
    more = {f"0-{n:032x}": START + n for n in range(400, 1700)}
    await store._redis.zadd(store._keys[0].waiting("group:S2"), more)

    page = await store.waiting_reviews(
        [*audiences, *(f"user:U{n}" for n in range(9))], 10, offset=495
    )

    assert (page.total, [at for _, at in page.reviews]) == (
        500,
        [START + n for n in range(495, 500)],
    )
    assert (await store.waiting_reviews(["group:S2"])).total == 1300
    assert (await store.waiting_reviews([*audiences, "group:S2"])).total >= 1300
    await store.close()
