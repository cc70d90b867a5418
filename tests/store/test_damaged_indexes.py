"""Damaged names in indexes, for example by a flipped bit: the others can still be read."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
import redis

from bot.health import Health
from bot.outbox import DueTimers
from hitl_core.errors import StoreError
from hitl_core.model import Review, Token
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from hitl_core.store.redis.keys import HOMES_KEY, TOKENS_KEY, Keys
from tests.support.builders import review_of
from tests.support.waiting import wait_until

BAD = b"0-\xff\xfe"


@pytest.fixture
async def review(store: RedisStore) -> Review:
    return await Reviews(store).submit(*review_of(now=await store.now()))


async def test_a_damaged_name_hides_no_other(
    store: RedisStore, review: Review, redis_url: str
) -> None:
    """Given each index with a name that is no text; then all others in it are still found."""
    keys = Keys(0)
    await store.hold_live_reviews()
    await store.record_home_view("slack:U1", await store.now())
    with redis.Redis.from_url(redis_url) as client:
        client.zadd(keys.due, {review.id: 2})
        for index in (keys.due, keys.live_reviews, keys.held, keys.queues):
            assert client.zadd(index, {BAD: 1})
        client.zadd(keys.thread(review.thread_id), {BAD: 1})
        client.zadd(HOMES_KEY, {BAD: 9e12})
        client.xadd(keys.dead_letters, {"review": review.id, "why": "gone"})
        client.xadd(keys.dead_letters, {"review": BAD, "lane": BAD, "member": BAD, "why": BAD})

    assert review.id in await store.due_reviews(10)
    assert review.id in await store.live_ids(10)
    assert review.id in [one.id for one in await store.held_reviews(10)]
    assert review.id in await store.thread_ids(review.thread_id, 10)
    assert review.id in [one.review_id for one in await store.dead_letters(10)]
    assert "slack:U1" in await store.home_viewers(0.0)
    assert len(await store.lanes()) >= 2


async def test_timers_tell_a_damaged_name(
    store: RedisStore, review: Review, redis_url: str
) -> None:
    """Given a damaged name before all that is due; then the timers go on, and the operators are told."""
    health = Health()
    with redis.Redis.from_url(redis_url) as client:
        client.zadd(Keys(0).due, {BAD: 1})
    timers = asyncio.create_task(DueTimers(Reviews(store), health, interval=0.01).run())
    await wait_until("it is told", lambda: bool(health.current_problems()))
    timers.cancel()
    [problem] = health.current_problems()
    assert problem.kind == "timer"


@pytest.mark.parametrize("id", [b"0" * 12, b"\xff\xfe"])
async def test_a_damaged_token_is_named(store: RedisStore, redis_url: str, id: bytes) -> None:
    """Then it can be revoked, also if its id is no text, and the others are listed."""
    token, _ = Token.issue("billing", "", 0.0)
    await store.save_token(token)
    with redis.Redis.from_url(redis_url) as client:
        client.hset(TOKENS_KEY, cast(Any, id), b"{")
    assert await store.tokens() == [token]
    [name] = await store.damaged_tokens()
    if id.isdigit():
        with pytest.raises(StoreError, match=f"{name} can't be read"):
            await store.token(name)
    assert await store.drop_token(name)
    assert await store.damaged_tokens() == []
    assert await store.tokens() == [token]
