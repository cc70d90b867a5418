"""The pool of connections to Redis: used in turn, opened completely, and all closed with the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
import redis

from hitl_core.errors import StoreError, StoreUnwritable
from hitl_core.store import RedisStore
from hitl_core.store.redis.connection import client as connection_client
from hitl_core.store.redis.connection import close_clients, connect
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.redis_servers.proxy import Proxy, proxy_to
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]


async def gone(proxy: Proxy) -> None:
    await wait_until("no connection is left", lambda: not proxy.open)


async def test_a_server_that_became_a_replica_is_left(own_redis: OwnRedis) -> None:
    """Given a service with one address that fails over, and keeps the connections to the old server; then the
    next write finds the new one: each was refused until a restart."""
    old, new = own_redis(), own_redis()
    async with proxy_to(old.url) as proxy:
        store = await RedisStore.open(proxy.url)
        await asyncio.gather(*(store.try_lock(f"{n}", 9) for n in range(20)))
        with redis.Redis.from_url(old.url) as client:
            client.replicaof("127.0.0.1", new.url.split(":")[2].partition("/")[0])
        proxy.lead_to(new.url)

        with pytest.raises(StoreUnwritable, match="this server is a replica"):
            await store.try_lock("card", 9)
        assert all(await asyncio.gather(*(store.try_lock(f"card {n}", 9) for n in range(20))))
        await store.close()


async def test_connections_are_given_in_the_order_of_asking(redis_url: str):
    """Given three who keep asking and one connection; then none of them gets ahead of the others."""
    client = connect(redis_url, connections=1)
    turns = [0, 0, 0]

    async def ask(who: int) -> None:
        for _ in range(40):
            await client.ping()
            turns[who] += 1
            assert max(turns) - min(turns) <= 2, turns

    try:
        await asyncio.gather(*(ask(who) for who in range(3)))
    finally:
        await client.aclose()


async def test_an_outage_gives_nobody_a_second_turn(own_redis: OwnRedis):
    """Given many who asked while the server was away; when it is back; then turns are as many as before."""
    server = own_redis()
    client = connect(server.url, connections=4)
    server.stop()
    for _ in range(20):
        with pytest.raises(redis.ConnectionError):
            await client.ping()
    server.start()
    await asyncio.gather(*(client.ping() for _ in range(50)))
    await client.aclose()


async def test_a_connection_that_is_cancelled_twice_while_it_is_made_is_closed(redis_url: str):
    """Given a server that is slow to greet, and somebody who gives up twice; then no socket is left."""
    async with proxy_to(redis_url) as proxy:
        proxy.drop_reply(0, hold=True)
        client = connect(proxy.url)
        asking = asyncio.create_task(client.ping())
        for _ in range(2):
            await asyncio.wait([asking], timeout=0.1)
            asking.cancel()
        if (await asyncio.wait([asking], timeout=0.1))[0]:
            await client.aclose()
        proxy.release()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await wait_until("it is connected", lambda: proxy.open)
        await client.aclose()
        await gone(proxy)


async def test_a_server_that_never_greets_holds_up_no_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a frozen server, whose kernel still connects, and a reader that may wait very long for an entry;
    then its connection is given up as early as any other, and neither a stop nor the close waits for it."""
    monkeypatch.setattr(connection_client, "COMMAND_TIMEOUT", 0.2)
    monkeypatch.setattr(connection_client, "MAX_BLOCK", 10_000.0)

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    reader = connect(f"redis://127.0.0.1:{port}", blocking=True)
    async with asyncio.timeout(30):
        with pytest.raises(redis.TimeoutError):
            await reader.xrevrange("events")
        reading = asyncio.create_task(reader.xrevrange("events"))
        await asyncio.wait([reading], timeout=0.05)
        reading.cancel()
        await close_clients(reader)
        with pytest.raises((asyncio.CancelledError, redis.TimeoutError)):
            await reading
    server.close()


async def test_a_closed_store_opens_no_connection(redis_url: str):
    """Given somebody who works on when the store is closed, as an outcome that renews its lease; then that
    is refused, and nothing is left behind.
    """
    async with proxy_to(redis_url) as proxy:
        store = await RedisStore.open(proxy.url)
        await store.close()
        for work in (store.now, store.due_reviews, lambda: store.agent_hints("billing", 1)):
            with pytest.raises(StoreError, match="The store is closed"):
                await work()
        await gone(proxy)


async def test_what_was_sent_before_the_store_closed_is_answered(redis_url: str):
    """Given commands on their way, and some that still wait for a connection; then the first are answered,
    the others refused, and every connection is closed.
    """
    async with proxy_to(redis_url) as proxy:
        client = connect(proxy.url, connections=2)
        await asyncio.gather(client.ping(), client.ping())
        asking = [asyncio.create_task(client.ping()) for _ in range(6)]
        await asyncio.sleep(0)
        await close_clients(client)
        answers = await asyncio.gather(*asking, return_exceptions=True)
        assert answers[:2] == [True, True]
        assert [type(answer) for answer in answers[2:]] == [StoreError] * 4
        await gone(proxy)


async def test_a_connection_that_is_made_while_the_store_closes_is_closed(redis_url: str):
    """Given a server that is slow to greet; when it does, nobody wants the connection any more."""
    async with proxy_to(redis_url) as proxy:
        proxy.drop_reply(0, hold=True)
        client = connect(proxy.url)
        asking = asyncio.create_task(client.ping())
        await asyncio.wait([asking], timeout=0.05)
        await close_clients(client)
        proxy.release()
        await asyncio.wait([asking])
        await gone(proxy)


async def test_closing_goes_to_the_end_however_often_it_is_cancelled(redis_url: str):
    """Given two clients, and somebody who has no patience at any moment; then both are closed."""
    async with proxy_to(redis_url) as proxy:
        for moment in range(6):
            clients = connect(proxy.url), connect(proxy.url, blocking=True)
            await asyncio.gather(*(client.ping() for client in clients))
            closing = asyncio.create_task(close_clients(*clients))
            for _ in range(moment + 1):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait([closing])
            await gone(proxy)


async def test_another_event_loop_is_refused(redis_url: str):
    """Given a store, when code calls it from another event loop (`asyncio.run` in a thread), then that is
    refused with a sentence, and the store goes on in its own loop: it hung."""
    store = await RedisStore.open(redis_url)
    try:
        for _ in range(3):
            with pytest.raises(StoreError, match="another event loop"):
                await asyncio.to_thread(asyncio.run, store.due_reviews())
        assert await store.due_reviews() == []
    finally:
        await store.close()
