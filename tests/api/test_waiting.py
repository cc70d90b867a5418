"""Long polls: they return soon after the decision, cost nothing while they wait, and survive lost hints and a
Redis that is down.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import islice

import aiohttp
import pytest
import redis

from bot.api import long_poll, store_access
from bot.api.policies import Policies
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from hitl_core.store.redis.keys import Keys
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.api.client import Client, Reply, issue, tool_call
from tests.api.conftest import Open, serving
from tests.support.builders import approve_all, policy
from tests.support.waiting import wait_until


def listeners(url: str) -> int:
    """How many connections block in this Redis."""
    with redis.Redis.from_url(url) as client:
        return int(client.info("clients")["blocked_clients"])


async def test_a_wait_ends_with_the_last_decision(client: Client, reviews: Reviews, redis_url: str):
    """Given a client that waits; when the last of two calls is decided, then it is answered within a
    moment."""
    id = (await client.submit(tool_call())).body["id"]
    waiting = asyncio.create_task(client.read(id, wait=60))
    await wait_until("it listens", lambda: listeners(redis_url) == 1)

    await approve_all(reviews, id)

    async with asyncio.timeout(30):
        assert (await waiting)["status"] == "settled"


async def test_a_wait_that_is_over_answers_with_what_there_is(client: Client):
    id = (await client.submit(tool_call())).body["id"]
    began = time.monotonic()

    review = await client.read(id, wait=1)

    assert review["status"] == "pending"
    assert 1 <= time.monotonic() - began < 25


async def test_a_worker_waits_for_work(client: Client, reviews: Reviews, redis_url: str):
    """Given a worker with nothing to do; when a review of its agent is settled, then it is given that one."""
    waiting = asyncio.create_task(client.get("/v1/reviews?status=settled&wait=60"))
    await wait_until("it listens", lambda: listeners(redis_url) == 1)

    id = (await client.submit(tool_call(name="look_up"))).body["id"]

    async with asyncio.timeout(30):
        assert [review["id"] for review in (await waiting).body["reviews"]] == [id]


async def test_a_thousand_waiters_cost_one_connection(
    open_api: Open, reviews: Reviews, redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """Given a server that nobody waits at, then it holds no blocked connection; given a thousand
    waiters, one; and when each review is settled, each of them is answered."""
    monkeypatch.setattr(store_access, "QUEUE_TIMEOUT", 60.0)  # a thousand come at once
    client = await open_api()
    ids = [(await client.submit(tool_call(), thread=f"t-{n}")).body["id"] for n in range(20)]
    assert (await client.read(ids[0]))["status"] == "pending"
    assert listeners(redis_url) == 0
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        many = Client(session, client.url, client.token)
        waiting = [asyncio.create_task(many.read(id, wait=60)) for id in ids * 50]
        await wait_until("they are there", lambda: len(connector._acquired) == 1000)
        await wait_until("one listens", lambda: listeners(redis_url) == 1)
        with redis.Redis.from_url(redis_url) as admin:
            assert len(admin.client_list()) < store_access.MAX_CONCURRENT + 10
        for id in ids:
            await approve_all(reviews, id)
        async with asyncio.timeout(60):
            answers = await asyncio.gather(*waiting)

    assert {answer["status"] for answer in answers} == {"settled"}
    await wait_until("one listens again", lambda: listeners(redis_url) == 1)


async def test_a_lost_hint_is_made_up_for(
    client: Client, reviews: Reviews, redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """Given an audit that starts again while one listens, its ids lower than before, so that nothing arrives;
    then the review itself is looked at before long."""
    monkeypatch.setattr(long_poll, "RECHECK_INTERVAL", 0.5)
    audit = Keys(0).audit
    id = (await client.submit(tool_call())).body["id"]
    with redis.Redis.from_url(redis_url) as admin:
        admin.xadd(audit, {"review": "none"}, id="99999999999999-0")
        waiting = asyncio.create_task(client.read(id, wait=60))
        await wait_until("it listens", lambda: listeners(redis_url) == 1)
        admin.delete(audit)

    await approve_all(reviews, id)

    async with asyncio.timeout(30):
        assert (await waiting)["status"] == "settled"


async def test_a_client_that_hangs_up_ends_its_wait(
    client: Client, redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """Given a client that closes its connection; then nobody looks for it any more."""
    monkeypatch.setattr(long_poll, "CLIENT_CHECK_INTERVAL", 0.05)
    id = (await client.submit(tool_call())).body["id"]
    watching: list[long_poll.LongPoll] = []
    watch = long_poll.LongPoll.watch
    monkeypatch.setattr(
        long_poll.LongPoll, "watch", lambda self, which: watching.append(self) or watch(self, which)
    )
    waiting = asyncio.create_task(client.read(id, wait=60))
    await wait_until("it waits", lambda: watching and watching[0].is_watched(id))

    waiting.cancel()

    await wait_until("nobody waits", lambda: not watching[0].is_watched(id))


async def test_a_client_that_hangs_up_is_no_stranger_in_the_log(
    client: Client,
    redis_url: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    """Given an agent with a valid token that hangs up while it waits; then the log has its request, and no
    line about requests without a token."""
    caplog.set_level("INFO")
    monkeypatch.setattr("bot.logs.INTERVAL", 0.0)
    monkeypatch.setattr(long_poll, "CLIENT_CHECK_INTERVAL", 0.05)
    id = (await client.submit(tool_call())).body["id"]
    waiting = asyncio.create_task(client.read(id, wait=60))
    await wait_until("it listens", lambda: listeners(redis_url) == 1)

    waiting.cancel()

    await wait_until("a line", lambda: f" GET /v1/reviews/{id} " in caplog.text)
    assert "without a valid token" not in caplog.text


async def test_the_document_is_for_everybody_without_a_warning(
    client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bot.logs.INTERVAL", 0.0)
    assert (await client.send("GET", "/v1/openapi.json")).status == 200
    assert "without a valid token" not in caplog.text


async def test_a_token_revoked_during_a_wait_gets_nothing(
    client: Client, reviews: Reviews, store: RedisStore, redis_url: str
):
    id = (await client.submit(tool_call())).body["id"]
    waiting = asyncio.create_task(client.get(f"/v1/reviews/{id}?wait=60"))
    await wait_until("it listens", lambda: listeners(redis_url) == 1)
    for token in await store.tokens():
        await store.drop_token(token.id)

    await approve_all(reviews, id)

    assert (await waiting).code == "unauthorized"


async def test_promise_11_a_wait_survives_a_redis_that_comes_back(
    open_api: Open, own_redis: Callable[[], EmbeddedRedis], redis_url: str
):
    """Given a client that waits, and a Redis that goes; then other requests get 503 with Retry-After,
    and when it is back the wait continues and is answered."""
    server = own_redis()
    store = await RedisStore.open(server.url)
    client = await open_api(url=server.url)
    _, client.token = await issue(store)
    id = (await client.submit(tool_call())).body["id"]
    waiting = asyncio.create_task(client.read(id, wait=60))
    await wait_until("it listens", lambda: listeners(server.url) == 1)

    server.kill()
    refused = await client.get(f"/v1/reviews/{id}")
    assert (refused.status, refused.code) == (503, "unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    assert "127.0.0.1" not in str(refused.body)
    server.start()
    await wait_until("it listens", lambda: listeners(server.url) == 1, 20)
    await approve_all(Reviews(store, retry_seconds=10.0), id)

    async with asyncio.timeout(20):
        assert (await waiting)["status"] == "settled"
    await store.close()


async def test_promise_11_many_clients_are_told_soon_that_redis_is_away(
    open_api: Open, own_redis: Callable[[], EmbeddedRedis], monkeypatch: pytest.MonkeyPatch
):
    """Given a Redis that is away, and more requests than fit into the queue; then each is told so in time."""
    monkeypatch.setattr(store_access, "QUEUE_TIMEOUT", 0.5)
    server = own_redis()
    client = await open_api(url=server.url)
    server.kill()

    async with asyncio.timeout(30):
        replies = await asyncio.gather(*(client.get("/v1/reviews/0-1") for _ in range(90)))

    assert {reply.code for reply in replies} == {"unavailable"}


async def test_a_server_that_stops_answers_who_waits(open_api: Open, redis_url: str):
    """Given a client that waits; when the server stops, then it is answered at once with what there is."""
    client = await open_api()
    store = await RedisStore.open(redis_url)
    async with serving(store, Policies(policy())) as url:
        leaving = Client(client.session, url, client.token)
        id = (await leaving.submit(tool_call())).body["id"]
        waiting = asyncio.create_task(leaving.read(id, wait=60))
        await wait_until("it listens", lambda: listeners(redis_url) == 1)
    async with asyncio.timeout(30):
        assert (await waiting)["status"] == "pending"
    await store.close()


async def test_agents_that_wait_leave_room_for_those_who_decide(
    open_api: Open, store: RedisStore, reviews: Reviews
):
    """Given a server with 12 connections, when agents want to wait on all of them, then half of
    them may, a quarter by one token; the others are told to come again, a request that doesn't wait is
    answered, and an answered one makes room."""
    client = await open_api(most=12)
    id = (await client.submit(tool_call())).body["id"]
    tokens = [client.token, *[(await issue(store))[1] for _ in range(2)]]
    waiting = list[asyncio.Task[Reply]]()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for token, room in zip(tokens, (3, 3, 0), strict=True):
            one = Client(session, client.url, token)
            polls = [asyncio.create_task(one.get(f"/v1/reviews/{id}?wait=60")) for _ in range(5)]
            async with asyncio.timeout(20):
                for refused in islice(asyncio.as_completed(polls), 5 - room):
                    reply = await refused
                    assert (reply.status, reply.code) == (429, "too_many")
                    assert reply.headers["Retry-After"]
            waiting += [each for each in polls if not each.done()]
            assert len(waiting) == (3 if one.token == client.token else 6)
            assert (await one.read(id))["status"] == "pending"
            address = f"{client.url}/v1/openapi.json"
            async with aiohttp.ClientSession() as stranger, stranger.get(address) as answer:
                assert answer.status == 200

        await approve_all(reviews, id)

        assert [(await each).body["status"] for each in waiting] == ["settled"] * 6
    assert (await client.read(id, wait=1))["status"] == "settled"
