"""What the service does when replies of Redis are lost, or Redis is away."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import redis

from hitl_core.errors import StoreUnavailable
from hitl_core.model import Review
from hitl_core.review import Decide, claims
from hitl_core.review.service import Reviews
from tests.review.open_reviews import Open, OwnRedis, audit, submit
from tests.support.builders import person, proposal
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until


async def whole_life(reviews: Reviews, thread_id: str) -> Review:
    """Every transition that there is, in a plausible order; each op named once, as callers do."""
    review = await submit(reviews, "ask", "ask", thread_id=thread_id, turn="m1")
    id = review.id
    await reviews.change(id, "await", lambda r, now: claims.set_waiting_process(r, "p1", now))
    await reviews.apply(Decide(id, "1", proposal("edit", n=9), person(), "click-1"))
    await reviews.apply(Decide(id, "2", proposal("approve"), person(), "click-2"))
    await reviews.change(id, "claim", lambda r, now: claims.claim(r, "p1", now, 60))
    await reviews.change(id, "start", lambda r, now: claims.start(r, 1, "1", now))
    await reviews.change(id, "renew", lambda r, now: claims.renew(r, 1, now, 0.0))
    await reviews.change(id, "lapse", claims.expire_lease)
    await reviews.change(
        id, "resolve", lambda r, now: claims.resolve(r, "1", "rerun", person(), now)
    )
    await reviews.change(id, "claim-2", lambda r, now: claims.claim(r, "p2", now, 60))
    await reviews.change(id, "start-2", lambda r, now: claims.start(r, 2, "1", now))
    await reviews.change(id, "report", lambda r, now: claims.report(r, 2, {"1": "ok"}, now))
    await reviews.change(id, "done", lambda r, now: claims.finish(r, 2, {}, now))
    return (await reviews.load(id)).review


def timeless(review: Review) -> Any:
    """What must be the same in two lives of different times."""
    text = json.dumps(review.model_dump(mode="json", exclude={"id", "thread_id"}))
    return json.loads(text, parse_float=lambda _: 0.0)


async def test_promise_3_a_lost_reply_leaves_the_state_as_if_once(
    open_reviews: Open, redis_url: str
):
    """Fault N2, T45: given a whole life of a review, when the reply to its n-th command is lost, for every n,
    then the review and its audit are what they are in a life without a fault."""
    async with proxy_to(redis_url) as proxy:
        reviews = await open_reviews(proxy.url, retry_seconds=10)
        await whole_life(reviews, "warm-up")  # the scripts are loaded, a connection is open
        proxy.drop_reply(10**6)
        expected = timeless(await whole_life(reviews, "calm"))
        commands = len(proxy.commands)
        assert commands > 25
        calm = [e["kind"] for e in audit(redis_url)][-commands:]

        for nth in range(1, commands + 1):
            before = len(audit(redis_url))
            proxy.drop_reply(nth)
            assert timeless(await whole_life(reviews, f"t-{nth}")) == expected, f"command {nth}"
            assert proxy.dropped
            kinds = [event["kind"] for event in audit(redis_url)[before:]]
            assert kinds == calm[-len(kinds) :]
            assert len(kinds) == 11


async def test_the_reply_of_one_start_is_lost_while_many_others_start(
    open_reviews: Open, redis_url: str
):
    """Given a turn of 60 calls that start at once, when one reply is lost, then it knows that it started.

    A review remembers its last operations; these are more than may come between the loss and the next try.
    """
    async with proxy_to(redis_url) as proxy:
        calm, shaky = await open_reviews(), await open_reviews(proxy.url, retry_seconds=10)
        review = await submit(calm, *["look_up"] * 60)
        await calm.change(review.id, "c", lambda r, now: claims.claim(r, "p1", now, 600))
        await start_call(shaky, review, 1)

        proxy.drop_reply(2, hold=True)  # the load, then the write
        unlucky = asyncio.create_task(start_call(shaky, review, 2))
        await wait_until("the write is lost", lambda: proxy.dropped)
        for n in range(3, 61):
            assert await start_call(calm, review, n)
        proxy.release()

        assert await unlucky is False
        runs = (await calm.load(review.id)).review.runs
        assert len(runs) == 60


async def start_call(reviews: Reviews, review: Review, n: int) -> bool:
    """Whether this very command wrote it. Raises Refused where the call was started by another."""
    op = f"start-{n}"
    step = lambda r, now: claims.start(r, 1, str(n), now)  # noqa: E731
    return (await reviews.change(review.id, op, step)).is_new


async def test_a_short_outage_is_not_noticed(own_redis: OwnRedis, open_reviews: Open):
    """Fault R1: given a click, when Redis dies and comes back within the patience, then the click counts."""
    server = own_redis()
    reviews = await open_reviews(server.url, retry_seconds=20)
    review = await submit(reviews)
    server.kill()
    click = asyncio.create_task(reviews.apply(Decide(review.id, "1", proposal(), person(), "op")))
    await asyncio.sleep(0)

    server.start()

    assert (await click).review.status == "settled"


async def test_promise_11_a_store_that_stays_away_is_told_in_time(
    own_redis: OwnRedis, open_reviews: Open
):
    """Not "press again", and not after an endless wait."""
    server = own_redis()
    reviews = await open_reviews(server.url, retry_seconds=0.2)
    review = await submit(reviews)
    server.kill()
    with pytest.raises(StoreUnavailable):
        async with asyncio.timeout(30):
            await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))


async def test_promise_11_a_store_that_cannot_write_is_away_and_not_busy(
    own_redis: OwnRedis, open_reviews: Open
):
    """Fault R6: given a Redis that answers but refuses writes; nobody is told that others are deciding."""
    server = own_redis()
    reviews = await open_reviews(server.url, retry_seconds=0.5)
    review = await submit(reviews)
    with redis.Redis.from_url(server.url) as client:
        client.config_set("min-replicas-to-write", 0)
        client.execute_command("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(StoreUnavailable, match="can't write now"):
            await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))
        client.execute_command("REPLICAOF", "NO", "ONE")
    applied = await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))
    assert applied.review.status == "settled"
