"""A stored review that is damaged, of another version, or not the one that was asked for."""

from __future__ import annotations

from typing import Any, cast

import pytest
import redis

from hitl_core.errors import StoreError
from hitl_core.store.redis.keys import Keys
from tests.store.steps import created, open_store
from tests.support.builders import review_of, write_of


async def test_keys_of_a_wrong_type_are_an_error_of_ours(redis_url: str):
    """Somebody else's key where a review should be."""
    async with open_store(redis_url) as store:
        review, event = review_of()
        with redis.Redis.from_url(redis_url) as client:
            client.set(Keys(0).review(review.id), "text", ex=60)
        with pytest.raises(StoreError, match="has a value of another type"):
            await store.commit(write_of((review, event)))
        with pytest.raises(StoreError):
            await store.load(review.id)


@pytest.mark.parametrize("data", ["", "{}", "[]", '{"schema_version": 2}'])
async def test_a_review_of_another_version_is_one_sentence(redis_url: str, data: str):
    """What this version can't read is never guessed at."""
    async with open_store(redis_url) as store:
        review = await created(store)
        with redis.Redis.from_url(redis_url) as client:
            client.hset(Keys(0).review(review.id), "data", data)
        with pytest.raises(StoreError, match=f"{review.id} can't be read by this version"):
            await store.load(review.id)


@pytest.mark.parametrize("field", [b"chain", b"mark:\xff", b"\xff", b"shown:default"])
async def test_any_damage_of_a_stored_review_is_an_error_of_ours(redis_url: str, field: bytes):
    """Workers and agents go on after such an error, and end after any other."""
    async with open_store(redis_url) as store:
        review = await created(store)
        with redis.Redis.from_url(redis_url) as client:
            client.hset(Keys(0).review(review.id), cast(str, field), b"\xff")
        for load in (store.load, store.load_outline):
            with pytest.raises(StoreError, match=f"{review.id} can't be read by this version"):
                await load(review.id)


async def test_a_review_without_its_arguments_is_an_error_of_ours(redis_url: str):
    """An agent would claim it, and end at a call that it can't read."""
    async with open_store(redis_url) as store:
        review = await created(store)
        with redis.Redis.from_url(redis_url) as client:
            client.hdel(Keys(0).review(review.id), "args:1:1")
        with pytest.raises(StoreError, match=f"{review.id} can't be read.*: it lacks arguments"):
            await store.load(review.id)


async def test_another_reviews_answer_is_not_taken(redis_url: str):
    """T44: the id in the data must be the one that was asked for."""
    async with open_store(redis_url) as store:
        one, two = await created(store), await created(store)
        with redis.Redis.from_url(redis_url) as client:
            stored: Any = client.hget(Keys(0).review(two.id), "data")
            client.hset(Keys(0).review(one.id), "data", stored)
        with pytest.raises(StoreError, match=f"has the review {two.id} under the id {one.id}"):
            await store.load(one.id)


@pytest.mark.parametrize(
    "fields",
    [
        {"head": b"", "fields": b""},
        {"head": b"1 2 -", "fields": b""},
        {"head": b"1 2 - 4 1 x", "fields": b"data{"},
        {"head": b"one 2 - 4 2", "fields": b"data{}"},
        {"head": b"1 2 - 4 2", "fields": b"data{}"},
    ],
)
async def test_a_hint_whose_review_is_damaged_only_wakes(redis_url: str, fields: dict[str, bytes]):
    """Then the review is loaded, as without one in the hint."""
    async with open_store(redis_url) as store:
        review = await created(store)
        await store.agent_hints("billing", 0)
        with redis.Redis.from_url(redis_url) as client:
            client.xadd(Keys(0).agent("billing"), cast(Any, {"review": review.id, **fields}))

        [hint] = await store.agent_hints("billing", 10)

        assert (hint.review_id, hint.read()) == (review.id, None)
