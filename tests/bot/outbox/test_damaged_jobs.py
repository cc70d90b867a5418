"""Damaged jobs in Redis, for example by a flipped bit: they don't block other jobs, and they are reported."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis

from bot.health import Health
from bot.outbox.lane import LATE_WINDOW, Lane
from bot.outbox.lane.failing_jobs import give_up
from hitl_core.model import DEFAULT_PLACE
from hitl_core.review.service import Reviews
from hitl_core.store import Job, Recheck, RedisStore
from hitl_core.store.redis.keys import Keys, lane_key, slot_key
from tests.support.builders import review_of
from tests.support.waiting import wait_until

KEYS, LANE = Keys(0), str(DEFAULT_PLACE)
POSTS = 1e11
CARD = b"card 0-0123456789abcdef0123456789abcdef default"


async def submit(store: RedisStore) -> str:
    return (await Reviews(store).submit(*review_of(now=await store.now()))).id


def set_clock_back(client: redis.Redis) -> None:
    """The server's clock was an hour ahead when the jobs were queued."""
    members: Any = client.zrange(KEYS.queue(LANE), 0, -1)
    for member in members:
        client.zincrby(KEYS.queue(LANE), 3600, member)


class Sent:
    """What a lane was told to send."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    async def __call__(self, job: Job, *, again: bool) -> None:
        self.ids.append(job.review_id)


@pytest.mark.parametrize("score", [1.0, POSTS + 1], ids=["draw", "post"])
@pytest.mark.parametrize(
    ("member", "note", "token"),
    [
        (b"card", None, None),
        (b"card \xff\xfe default", None, None),
        (b"\xff", None, None),
        (CARD, b"\xff{", None),
        (CARD, None, b"zzz"),
        (CARD, None, b"1 zzz 3"),
        (CARD, None, b"1 1.2.3 3"),
        (CARD, None, b"\xff"),
    ],
)
async def test_a_damaged_job_holds_up_no_other(
    store: RedisStore,
    redis_url: str,
    score: float,
    member: bytes,
    note: bytes | None,
    token: bytes | None,
) -> None:
    """Given a damaged job before all others of its lane; then the others are done, and it is gone."""
    review_id, health, sent = await submit(store), Health(), Sent()
    with redis.Redis.from_url(redis_url) as client:
        client.zadd(KEYS.queue(LANE), {member: score})
        if note is not None:
            client.hset(KEYS.change_counts, member, note)
        if token is not None:
            client.hset(KEYS.job_starts, member, token)
        lane = Lane(DEFAULT_PLACE, store, sent, health, LATE_WINDOW, 0.01)
        await asyncio.wait_for(lane.run(), 30)
        assert review_id in sent.ids
        assert client.zrange(KEYS.queue(LANE), 0, -1) == []
        assert client.hlen(KEYS.change_counts) == client.hlen(KEYS.job_starts) == 0
    is_told = bool(health.current_problems()) and await store.count_dead_letters() == 1
    assert is_told == ((member, note) != (CARD, None))  # else it is done: its review is over


async def test_that_no_job_can_be_read_is_told(store: RedisStore, redis_url: str) -> None:
    """Given a key of another type, which nobody can mend but a person; then the operators are told, until it
    is mended."""
    review_id, health, sent = await submit(store), Health(), Sent()
    with redis.Redis.from_url(redis_url) as client:
        client.set(KEYS.job_starts, "x")
        lane = Lane(DEFAULT_PLACE, store, sent, health, LATE_WINDOW, 0.5)
        running = asyncio.create_task(lane.run())
        await wait_until("it is told", health.current_problems)
        assert {problem.kind for problem in health.current_problems()} == {"delivery"}
        client.delete(KEYS.job_starts)
    lane.wake()
    await running
    await Lane(DEFAULT_PLACE, store, sent, health, LATE_WINDOW, 0.01).run()
    assert sent.ids == [review_id]
    assert health.current_problems() == ()


async def test_a_damaged_count_stops_no_decision(store: RedisStore, redis_url: str) -> None:
    """Given a count of changes that is no number; then a change of the card is counted: in a decision's write
    all that follows, as the audit's entry, would be left out."""
    await submit(store)
    [job] = [one for one in [await store.take_job(LANE, "post")] if one]
    with redis.Redis.from_url(redis_url) as client:
        client.hset(KEYS.change_counts, job.member, "x")
        await store.redraw(job.review_id, DEFAULT_PLACE, "card")
        assert client.hget(KEYS.change_counts, job.member) == b"1"


async def test_a_damaged_count_loses_no_dead_letter(store: RedisStore, redis_url: str) -> None:
    """Given a count of dead letters that is no number; when they are tried again, then the card is queued."""
    await submit(store)
    [job] = [one for one in [await store.take_job(LANE, "post")] if one]
    await give_up(store, job, "why")
    with redis.Redis.from_url(redis_url) as client:
        client.hset(KEYS.dead_letter_counts, job.review_id, "x")
        await store.requeue_dead_letters()
        assert client.hlen(KEYS.dead_letter_counts) == 0
    again = await store.take_job(LANE, "post")
    assert again is not None
    assert again.review_id == job.review_id


@pytest.mark.parametrize("foreign", ["text", "list", "long"])
async def test_no_lease_lasts_longer_than_a_bots(
    store: RedisStore, redis_url: str, foreign: str
) -> None:
    """Given a lease without an end, as after a foreign hand, or with one an hour away, as after the server's
    clock was set back; when a bot wants the lane, then it gets it after at most one lease."""
    key = lane_key(LANE)
    with redis.Redis.from_url(redis_url) as client:
        match foreign:
            case "list":
                client.lpush(key, "x")
            case "text":
                client.set(key, "x")
            case _:
                client.set(key, "dead bot", ex=3600)

        async def holds() -> bool:
            return bool(await store.hold_lanes([LANE], "me", 0.05))

        await wait_until("it holds the lane", holds)
        client.delete(key)


@pytest.mark.parametrize(
    "stored", ["zzz", b"\xff", "99999999999999", "99999999999999 99999999999999", ["x"]]
)
async def test_no_slot_is_far_away(
    store: RedisStore, redis_url: str, stored: str | bytes | list[str]
) -> None:
    """Given a time of the next call that is damaged, or was written before the clock was set back; then the
    next call waits no longer than usual."""
    with redis.Redis.from_url(redis_url) as client:
        if isinstance(stored, list):
            client.lpush(slot_key("post"), *stored)
        else:
            client.set(slot_key("post"), stored, ex=3600)
    assert await store.take_slot("post", 1.0) == 0
    assert 0 < await store.take_slot("post", 1.0) <= 1.0


async def test_an_update_from_before_the_clock_was_set_back_is_due(
    store: RedisStore, redis_url: str
) -> None:
    """Given an update and a later check, which were queued while the server's clock was an hour ahead; then
    the update is done now, once, and the check when its time comes."""
    review_id = await submit(store)
    post = await store.take_job(LANE, "post")
    assert post is not None
    await store.finish_job(post, Recheck("sweep", 5.0, "1.0"))
    await store.redraw(review_id, DEFAULT_PLACE)
    with redis.Redis.from_url(redis_url) as client:
        set_clock_back(client)

        job = await store.take_job(LANE, "draw")
        assert job is not None
        assert (job.kind, job.review_id) == ("check", review_id)
        await store.finish_job(job)

        assert await store.take_job(LANE, "draw") is None
        assert client.zcard(KEYS.queue(LANE)) == 1


async def test_a_later_update_from_before_the_clock_was_set_back_is_due(
    store: RedisStore, redis_url: str
) -> None:
    """Given an update that waits for a minute; then it is not done before, but if the server's clock was an
    hour ahead when it was queued, it is done now, once."""
    review_id = await submit(store)
    post = await store.take_job(LANE, "post")
    assert post is not None
    await store.finish_job(post)
    await store.redraw(review_id, DEFAULT_PLACE, "card", delay=60.0)
    assert await store.take_job(LANE, "draw") is None
    with redis.Redis.from_url(redis_url) as client:
        set_clock_back(client)

        job = await store.take_job(LANE, "draw")
        assert job is not None
        assert (job.kind, job.review_id) == ("card", review_id)
        await store.finish_job(job)
        assert client.zcard(KEYS.queue(LANE)) == 0
