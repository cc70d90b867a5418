"""The keys in Redis: their names, how long they are kept, and in which slot they are."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitl_core.audit.sealer import seal
from hitl_core.model import DEFAULT_PLACE
from hitl_core.store.contract.review_lists import DONE_OFFSET
from hitl_core.store.redis.keys import (
    Keys,
    alive_key,
    choose_partition,
    lock_key,
    make_review_id,
    parse_partition,
    temporary_key,
)
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.steps import (
    ELSEWHERE,
    HERE,
    OPS,
    attempted,
    created,
    finished,
    keys_of,
    open_store,
)
from tests.support.jobs import begin_all
from tests.support.redis_servers.leaks import find_leaks
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]
LIVE = r"hitl:\{\d+\}:(review:\d+-[0-9a-f]{32}|thread:[0-9a-f]{32})"


def leaks_of(url: str) -> set[str]:
    with redis.Redis.from_url(url) as client:
        return find_leaks(client)


def kept_for(url: str, key: str) -> float:
    """The time to live of this key, in days; negative if it has none."""
    with redis.Redis.from_url(url) as client:
        return cast(int, client.ttl(key)) / 86_400


async def test_no_key_is_left_without_an_end(redis_url: str):
    """Given a whole life of a review, then at each step every key has a TTL or is meant to stay."""
    async with open_store(redis_url, retention=60) as store:
        await store.agent_hints("billing", 0)
        await store.send_heartbeat("p1", 5)
        review = await created(store)
        await store.record_post(review.id, DEFAULT_PLACE, HERE)
        [hint] = await begin_all(store)
        assert leaks_of(redis_url) == set()
        assert kept_for(redis_url, Keys(0).review(review.id)) < 0, "it stays while it waits"

        await finished(store, review)
        await store.record_shown_version(review.id, DEFAULT_PLACE, 4)
        await store.record_post(review.id, ELSEWHERE, HERE)
        await store.move_to_dead_letters(hint, "why")
        await store.save_temporary_value("form", b"{}", 5)
        await store.record_home_view("U1", await store.now())
        await store.try_lock("home:U1", 5)
        await store.record_policy("billing", "one")
        await store.record_policy("billing", "two")
        await store.record_mark(review.id, "read")
        await attempted(store, review, "click")
        await seal(store)
        [anchor] = await store.ledger.anchors(0)
        await store.ledger.mark_exported(0, anchor)

        assert leaks_of(redis_url) == set()
        assert kept_for(redis_url, Keys(0).review(review.id)) >= 0


def test_a_leak_is_found(redis_url: str):
    """Given a done review, its thread and a value without a TTL, and a pending review, then only the three
    are leaks: the check at the end of every test with Redis finds them."""
    done, value = Keys(0).review("0-" + "a" * 32), "hitl:temporary:1"
    pending_id = "0-" + "b" * 32
    with redis.Redis.from_url(redis_url) as client:
        client.hset(done, "version", "9")
        client.hset(Keys(0).review(pending_id), "version", "1")
        client.zadd(Keys(0).live_reviews, {pending_id: 1})
        client.zadd(Keys(0).thread("done"), {"0-a": DONE_OFFSET + 1})
        client.zadd(Keys(0).thread("pending"), {"0-b": 1})
        client.set(value, "")
        found = find_leaks(client)
        client.flushall()

    assert found == {done, Keys(0).thread("done"), value}


async def test_a_process_that_says_the_retention_says_it_for_all(redis_url: str):
    """Given a bot that keeps reviews for 7 days, then an agent that starts later does too; a bot that keeps
    them for 30 days again changes it back."""
    assert await days_kept(redis_url) == 30
    async with open_store(redis_url, retention=7 * 86_400):
        pass
    assert await days_kept(redis_url) == 7
    async with open_store(redis_url, retention=30 * 86_400):
        pass
    assert await days_kept(redis_url) == 30


async def days_kept(url: str) -> float:
    """For how many days an agent keeps a done review, and exported entries."""
    async with open_store(url) as store:
        review = await finished(store, await created(store))
        days = kept_for(url, Keys(0).review(review.id))
        assert store.ledger.retention == pytest.approx(days * 86_400, abs=60)
        with redis.Redis.from_url(url) as client:
            client.delete(Keys(0).review(review.id))
    return round(days)


async def test_a_done_review_vanishes_after_its_retention(redis_url: str):
    """Given a short retention, when it has passed, then neither review nor thread nor index knows it."""
    async with open_store(redis_url, retention=0.2) as store:
        review = await finished(store, await created(store))

        async def gone() -> bool:
            return await store.load(review.id) is None and not await store.thread_ids(
                review.thread_id
            )

        await wait_until("the review has gone", gone)
        assert not any(re.fullmatch(LIVE, key) for key in keys_of(redis_url))
        assert await store.due_reviews() == await store.ready_reviews(review.agent) == []
        assert await store.record_shown_version(review.id, OPS, 3) == 0
        assert await store.record_post(review.id, OPS, HERE) == HERE
        assert not any(re.fullmatch(LIVE, key) for key in keys_of(redis_url)), (
            "a late post revived it"
        )


async def test_a_live_review_keeps_its_thread(redis_url: str):
    """A thread whose first review is done stays for the second one, which came later."""
    async with open_store(redis_url, retention=0.2) as store:
        first = await finished(store, await created(store, thread_id="t"))
        second = await created(store, thread_id="t")

        async def gone() -> bool:
            return await store.load(first.id) is None

        await wait_until("the first has gone", gone)
        assert second.id in await store.thread_ids("t")


async def test_a_thread_in_use_forgets_what_has_gone(redis_url: str):
    """Given a thread that is never idle, then its index does not grow without end."""
    async with open_store(redis_url, retention=0.2) as store:
        first = await finished(store, await created(store, thread_id="t"))

        async def gone() -> bool:
            return await store.load(first.id) is None

        await created(store, thread_id="t")
        await wait_until("the first has gone", gone)
        last = await finished(store, await created(store, thread_id="t"))

        assert first.id not in await store.thread_ids("t")
        assert last.id in await store.thread_ids("t")


async def test_the_keys_of_a_thread_share_one_slot(redis_url: str):
    """Given four partitions, then the keys that one script touches have one hash tag."""
    async with open_store(redis_url, partitions=4) as store:
        tags: set[str] = set()
        for number in range(12):
            review = await created(store, thread_id=f"t-{number}")
            keys = {key for key in keys_of(redis_url) if review.id in key}
            partition = choose_partition(review.thread_id, 4)
            assert keys == {f"hitl:{{{partition}}}:review:{review.id}"}
            tags.add(str(partition))
        assert tags == {"0", "1", "2", "3"}
        assert all(re.match(r"hitl:(\{[0-3]\}:|meta$)", key) for key in keys_of(redis_url))


def port_for_a_cluster() -> int:
    """A free one whose bus, 10,000 above it, is a port as well."""
    for port in range(20_000, 55_000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


async def test_a_cluster_takes_every_script(own_redis: OwnRedis):
    """A single-node cluster refuses any script whose keys are in two slots: none is refused."""
    server = own_redis()
    server.stop()
    clustered = EmbeddedRedis(
        server.data_dir,
        port=port_for_a_cluster(),
        settings={"cluster-enabled": "yes", "save": "", "appendonly": "no"},
    )
    with clustered:
        with redis.Redis.from_url(clustered.url) as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            await wait_until(
                "the cluster is ok",
                lambda: cast(Any, client).execute_command("CLUSTER INFO")["cluster_state"] == "ok",
            )
        async with open_store(
            clustered.url.replace("redis:", "redis+cluster:"), partitions=2
        ) as store:
            for thread in ("a", "b", "c"):
                review = await finished(store, await created(store, thread_id=thread))
                await store.record_post(review.id, OPS, HERE)
                await store.record_shown_version(review.id, OPS, 1)
            assert await store.due_reviews() == []


@given(
    parts=st.lists(
        st.text(st.characters(), max_size=20)
        | st.sampled_from(["}", "{", "{0}", "\x00", "\ud800", ":"]),
        min_size=4,
        max_size=4,
    )
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.differing_executors])
def test_no_id_from_outside_shapes_a_key(parts: list[str]):
    """Whatever a thread, an agent or a call is named (T55): keys have one shape, and one hash tag."""
    agent, thread, turn, id = parts
    partition = choose_partition(thread, 4)
    made = make_review_id(partition, agent, thread, turn, [id])
    keys = Keys(partition)

    assert parse_partition(made) == partition
    assert re.fullmatch(r"hitl:\{[0-3]\}:review:[0-3]-[0-9a-f]{32}", keys.review(made))
    of_people = {"waiting": keys.waiting(turn), "decided": keys.decisions(id)}
    for kind, key in {
        "thread": keys.thread(thread),
        "lock": keys.thread_lock(agent, thread),
        "agent": keys.agent(agent),
        **of_people,
    }.items():
        assert re.fullmatch(rf"hitl:\{{[0-3]\}}:{kind}:[0-9a-f]{{32}}", key)
    for key in (temporary_key(turn), lock_key(id), alive_key(agent)):
        assert re.fullmatch(r"hitl:(temporary|lock|alive):[0-9a-f]{32}", key)


@pytest.mark.parametrize("name", ["x" * 1_000_000, "{}\x00:{1}", "\n", "🧵"], ids=repr)
async def test_strange_threads_work(redis_url: str, name: str):
    """A thread of a megabyte, or with Redis's own characters in its name, is a thread."""
    async with open_store(redis_url) as store:
        review = await created(store, thread_id=name)
        assert await store.thread_ids(name) == [review.id]
        assert all(len(key) < 100 for key in keys_of(redis_url))


def test_parts_of_an_id_do_not_run_into_each_other():
    """Two lists of names that read alike in a row are two reviews."""
    assert make_review_id(0, "a", "bc", "", ["1"]) != make_review_id(0, "ab", "c", "", ["1"])
    assert make_review_id(0, "a", "b", "", ["12"]) != make_review_id(0, "a", "b", "", ["1", "2"])
    assert make_review_id(0, "a", "b", "t", ["1"]) == make_review_id(0, "a", "b", "t", ["1"])


async def test_a_pending_review_has_few_fields(redis_url: str):
    """Given a review of one call whose card is shown in a conversation that was counted; then its hash has no
    more than eight fields: with a ninth, Redis would double its table."""
    async with open_store(redis_url) as store:
        review = await created(store)
        await store.record_mark(review.id, "sized:default")
        [job] = await begin_all(store)
        await store.record_post(review.id, DEFAULT_PLACE, HERE)
        await store.record_shown_version(review.id, DEFAULT_PLACE, 1)
        await store.finish_job(job)
        with redis.Redis.from_url(redis_url, decode_responses=True) as client:
            fields = cast(list[str], client.hkeys(Keys(0).review(review.id)))

    shown = {"post:default", "shown:default", "have:default", "mark:sized:default"}
    assert set(fields) == {"version", "data", "chain", "args:1:1"} | shown


async def test_the_lock_of_a_thread_is_where_its_reviews_are(redis_url: str):
    """Given a Redis Cluster that lost a master, then the threads of the others can be run."""
    async with open_store(redis_url, partitions=4) as store:
        for number in range(8):
            assert await store.hold_thread("billing", f"t-{number}", "a", 10)
    locks = {key for key in keys_of(redis_url) if ":lock:" in key}
    slots = {Keys(choose_partition(f"t-{number}", 4)).tag for number in range(8)}
    assert {key.rpartition(":lock:")[0] for key in locks} == slots
