"""A Redis that answers but accepts no writes: agents wait, as if it were down."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from hitl_core import Gate, Policy, ToolCall
from hitl_core.errors import StoreUnavailable, StoreUnwritable
from hitl_core.store import RedisStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.redis_servers.unwritable import CAUSES, Cause, refusing_writes
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]

ASKS = Policy.from_mapping({"default": "review"})
ALLOWS = Policy.from_mapping({"default": "allow"})

pytestmark = pytest.mark.redis


def call() -> ToolCall:
    return ToolCall("c1", "send_email", {"to": "jo"})


@pytest.fixture
def url(own_redis: OwnRedis) -> str:
    return own_redis().url


@pytest.fixture
async def gate(url: str) -> AsyncIterator[Gate]:
    async with Gate.connect(url, policy=ASKS, agent="crm") as gate:
        yield gate


async def still(doing: asyncio.Task[object], tries: Callable[[], Awaitable[object]]) -> None:
    """It has failed more than once, and tries again."""
    for _ in range(20):
        with pytest.raises(StoreUnwritable):
            await tries()
        await asyncio.sleep(0)
    assert not doing.done()


@pytest.mark.parametrize("cause", CAUSES)
async def test_a_store_that_takes_no_writes_says_so(url: str, cause: Cause) -> None:
    """faults 10: given a server that takes no writes; then the error is StoreUnavailable, has one sentence
    with the reason, and no address; and a store can be opened."""
    await (await RedisStore.open(url)).close()
    with refusing_writes(url, cause):
        store = await RedisStore.open(url)
        with pytest.raises(StoreUnwritable) as caught:
            await store.try_lock("x", 1.0)
        await store.close()
    assert isinstance(caught.value, StoreUnavailable)
    assert f"({cause})" in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize("cause", CAUSES)
async def test_submit_waits_within_its_patience(gate: Gate, url: str, cause: Cause) -> None:
    """faults 10: given a server that takes no writes, when an agent submits, then it waits, and when the
    cause is gone the review is there."""
    probe = await RedisStore.open(url)
    with refusing_writes(url, cause):
        doing = asyncio.create_task(gate.submit([call()], thread_id="t"))
        await still(doing, lambda: probe.try_lock("probe", 1.0))
    review_id = await doing
    assert (await gate.reviews.load(review_id)).review.status == "pending"
    await probe.close()


@pytest.mark.parametrize("cause", ["NOREPLICAS", "MISCONF", "READONLY"])
async def test_once_waits_and_is_true_once(url: str, cause: Cause) -> None:
    """faults 10: given a call that may run, and a server that takes no writes, when the agent asks `once`,
    then it waits; afterwards it says True, and False the second time."""
    probe = await RedisStore.open(url)
    async with Gate.connect(url, policy=ALLOWS, agent="crm") as gate:
        outcome = await gate.review([call()], thread_id="t")
        with refusing_writes(url, cause):
            doing = asyncio.create_task(outcome.once(call()))
            await still(doing, lambda: probe.try_lock("probe", 1.0))
        assert await doing is True
        assert await outcome.once(call()) is False
        await outcome.finish({"c1": "ok"})
    await probe.close()


@pytest.mark.parametrize("cause", CAUSES)
async def test_an_agent_starts_and_says_so(
    url: str, cause: Cause, caplog: pytest.LogCaptureFixture
) -> None:
    """faults 10: given a server that takes no writes, when an agent starts, then it does, and where even its
    heartbeat can't be written, the log says why."""
    caplog.set_level(logging.WARNING)
    await (await RedisStore.open(url)).close()
    with refusing_writes(url, cause):
        async with Gate.connect(url, policy=ASKS, agent="crm"):
            pass
    warned = "New reviews can't be stored now" in caplog.text
    assert warned == (cause != "OOM"), "a heartbeat needs no more memory"


async def test_hearts_beat_while_redis_is_full(url: str) -> None:
    """faults 10: given a full server; then heartbeats are written, also of a new process."""
    store = await RedisStore.open(url)
    with refusing_writes(url, "OOM"):
        await store.send_heartbeat("p1", 60.0)
        assert await store.is_alive("p1")
    await store.close()


async def test_no_redis_is_one_sentence() -> None:
    """newcomer 9: given no Redis; then what an agent raises has the reason and the address without its
    password, and no long traceback."""
    with pytest.raises(StoreUnavailable) as caught:
        await RedisStore.open("redis://:s3cr3t@127.0.0.1:1/0")
    assert "connection refused" in str(caught.value)
    assert "127.0.0.1:1" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None


async def test_the_log_says_when_redis_is_back(
    own_redis: OwnRedis, caplog: pytest.LogCaptureFixture
) -> None:
    """newcomer 9: given an agent that waits, when Redis goes and comes back, then the log has a line for
    each, and none in between."""
    caplog.set_level(logging.INFO)
    server = own_redis()
    async with Gate.connect(server.url, policy=ASKS, agent="crm"):
        server.kill()
        await wait_until("it is missed", lambda: "for the store" in caplog.text, 20)
        server.start()
        await wait_until("it is back", lambda: "The store answers again" in caplog.text, 30)
    text = [r.getMessage() for r in caplog.records if r.name == "hitl_core.gate.waiting.listener"]
    assert len(text) == 2
