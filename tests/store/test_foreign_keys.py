"""Keys of ours that have a value of another type, as after a foreign hand: no write is cut in two by them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import redis

from bot.outbox.lane.failing_jobs import give_up
from hitl_core.audit import seal
from hitl_core.errors import DigestUnreadable, ReviewUnreadable, StoreError
from hitl_core.model import DEFAULT_PLACE, MessageRef
from hitl_core.review import Decide
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from hitl_core.store.redis.keys import Keys
from tests.support.builders import person, proposal, review_of

KEYS, LANE = Keys(0), str(DEFAULT_PLACE)
REF = MessageRef(channel="slack", conversation="C1", ts="1.1")
Write = Callable[[RedisStore], Awaitable[object]]


async def submit(store: RedisStore, turn: str = "new") -> str:
    made = review_of(thread_id="t", turn=turn, now=await store.now())
    return (await Reviews(store, retry_seconds=0.1).submit(*made)).id


async def decide(store: RedisStore) -> None:
    [review_id] = await store.thread_ids("t")
    decision = Decide(review_id, "1", proposal("reject"), person(), "op")
    await Reviews(store, retry_seconds=0.1).apply(decision)


async def record_post(store: RedisStore) -> None:
    [review_id] = await store.thread_ids("t")
    await store.record_post(review_id, DEFAULT_PLACE, REF)


async def unschedule(store: RedisStore) -> None:
    [review_id] = await store.thread_ids("t")
    await store.unschedule(review_id, "billing")


async def take(store: RedisStore) -> None:
    assert await store.take_job(LANE, "post")


async def redraw(store: RedisStore) -> None:
    [review_id] = await store.thread_ids("t")
    await store.redraw(review_id, DEFAULT_PLACE)


async def add_to_digest(store: RedisStore) -> None:
    ids = await store.thread_ids("t")
    assert await store.add_to_digest(LANE, DEFAULT_PLACE, "g", "billing", ids)


async def hold(store: RedisStore) -> None:
    await store.hold_live_reviews()


async def begun(store: RedisStore, then: Callable[..., Awaitable[object]]) -> Write:
    job = await store.take_job(LANE, "post")
    assert job is not None
    return lambda store: then(store, job)


async def finish(store: RedisStore) -> Write:
    return await begun(store, lambda store, job: store.finish_job(job))


async def move_to_dead_letters(store: RedisStore) -> Write:
    return await begun(store, lambda store, job: give_up(store, job, "why"))


async def requeue(store: RedisStore) -> Write:
    await (await move_to_dead_letters(store))(store)
    [letter] = await store.dead_letters()
    return lambda store: store.requeue_dead_letter(letter)


async def drop(store: RedisStore) -> Write:
    await (await move_to_dead_letters(store))(store)
    [letter] = await store.dead_letters()
    return lambda store: store.drop_dead_letter(letter)


async def in_digest(store: RedisStore, then: Callable[..., Awaitable[object]]) -> Write:
    ids = await store.thread_ids("t")
    id = await store.add_to_digest(LANE, DEFAULT_PLACE, "g", "billing", ids)
    assert id is not None
    await store.record_digest_message(id, REF)
    return lambda store: then(store, id, ids)


async def update_digest(store: RedisStore) -> Write:
    return await in_digest(store, lambda s, id, ids: s.update_digest(id, ids[0], waits=False))


async def leave_digest(store: RedisStore) -> Write:
    return await in_digest(store, lambda s, id, ids: s.leave_digest(id, DEFAULT_PLACE, ids))


async def drop_missing(store: RedisStore) -> Write:
    [review_id] = await store.thread_ids("t")
    await store._redis.delete(f"hitl:{{0}}:review:{review_id}")

    async def write(store: RedisStore) -> None:
        await store.drop_missing(review_id)

    return write


async def trim(store: RedisStore) -> Write:
    await seal(store)
    anchor = await store.ledger.last_anchor(0)
    assert anchor is not None
    return lambda store: store.ledger.trim(0, anchor)


def at_once(write: Write) -> Callable[[RedisStore], Awaitable[Write]]:
    async def prepare(_: RedisStore) -> Write:
        return write

    return prepare


WRITES = {
    **{
        write.__name__: at_once(write)
        for write in (
            submit, decide, record_post, unschedule, take, redraw, add_to_digest, hold
        )
    },
    **{
        prepare.__name__: prepare
        for prepare in (
            finish, move_to_dead_letters, requeue, drop, update_digest, leave_digest, drop_missing, trim
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
async def test_a_foreign_key_cuts_no_write_in_two(redis_url: str, name: str) -> None:
    """Given each key of a write with a value of another type; then the write is done as a whole or not at
    all: a decision without its entry of the audit broke its chain, and a review that was stored and nothing
    else had no card, while its agent waited.
    """

    async def prepared() -> tuple[RedisStore, Write]:
        with redis.Redis.from_url(redis_url) as client:
            client.flushall()
        store = await RedisStore.open(redis_url)
        await submit(store, "first")
        return store, await WRITES[name](store)

    store, write = await prepared()
    with redis.Redis.from_url(redis_url) as client:
        names = set(client.scan_iter())
        await write(store)
        names |= set(client.scan_iter())
        await store.close()
        for key in sorted(names):
            store, write = await prepared()
            wrong = "hash" if client.type(key) == b"string" else "string"
            client.delete(key)
            _ = client.set(key, "x") if wrong == "string" else client.hset(key, "x", "y")
            before = dump(client)
            try:
                await write(store)
            except StoreError:
                assert dump(client) == before, key
            await store.close()
        client.flushall()


def dump(client: redis.Redis) -> dict[bytes, object]:
    return {key: client.dump(key) for key in client.scan_iter()}


async def test_an_error_names_the_foreign_key(store: RedisStore, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.set(KEYS.change_counts, "x")
        with pytest.raises(
            StoreError, match=r"The key hitl:\{0\}:changes in Redis has a value of anot"
        ):
            await submit(store)
        client.set(KEYS.live_reviews, "x")
        with pytest.raises(StoreError, match="A key in Redis has a value of another type"):
            await store.live_reviews(1)


async def test_a_review_of_another_type_is_unreadable(store: RedisStore, redis_url: str) -> None:
    """It is as one that is damaged in another way: told as that, and it keeps no other from being read."""
    review_id = await submit(store)
    with redis.Redis.from_url(redis_url) as client:
        client.delete(KEYS.review(review_id))
        client.set(KEYS.review(review_id), "x")
        for load in (store.load, store.load_outline):
            with pytest.raises(ReviewUnreadable):
                await load(review_id)
        client.delete(KEYS.review(review_id))


async def test_a_digest_of_another_type_lets_its_reviews_leave(
    store: RedisStore, redis_url: str
) -> None:
    """It is as one that is damaged in another way: told as that, and its reviews get cards."""
    review_id = await submit(store)
    digest_id = await store.add_to_digest(LANE, DEFAULT_PLACE, "g", "billing", [review_id])
    assert digest_id is not None
    with redis.Redis.from_url(redis_url) as client:
        client.delete(KEYS.digest(digest_id))
        client.set(KEYS.digest(digest_id), "x")
    with pytest.raises(DigestUnreadable):
        await store.digest(digest_id)
    with pytest.raises(DigestUnreadable):
        await store.update_digest(digest_id, review_id, waits=True)
    await store.leave_digest(digest_id, DEFAULT_PLACE, [review_id])
    assert await store.digest(digest_id) is None
    assert (review_id, DEFAULT_PLACE) in await store.first_posts(LANE, 10)
