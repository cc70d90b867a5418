"""Script calls of one turn of the event loop share a connection, and nothing else."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
import redis
from redis.exceptions import ConnectionError, DataError, ResponseError, TimeoutError

from hitl_core.errors import StoreError
from hitl_core.store.redis.connection import batches, client, close_clients, connect
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.redis_servers.lost_replies import Loss, losing, repeated
from tests.support.redis_servers.proxy import Proxy, proxy_to
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]

pytestmark = pytest.mark.every_reply

#: Says its argument, and counts how often it was called with each.
SAY = """
if ARGV[1] == 'bad' then return redis.error_reply('ERR it is bad') end
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('EXPIRE', KEYS[1], 60)
return ARGV[1]
"""
KEY = "hitl:{test}:said"


class Speaker:
    """Calls the script with a client of the product."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._script = client.register_script(SAY)

    async def say(self, word: object, key: str = KEY) -> str:
        return (await self._script(keys=[key], args=[word])).decode()

    def start(self, *words: object) -> list[asyncio.Task[str]]:
        """A task for each word, all in the same turn."""
        return [asyncio.create_task(self.say(word)) for word in words]

    async def say_all(self, *words: object) -> list[str | BaseException]:
        return await asyncio.gather(*self.start(*words), return_exceptions=True)

    async def counts(self) -> dict[str, int]:
        """How often each word was said."""
        pairs = (await self.client.hgetall(KEY)).items()
        return {word.decode(): int(count) for word, count in pairs}


@asynccontextmanager
async def speaker(url: str, **options: Any) -> AsyncIterator[Speaker]:
    client = connect(url, **options)
    try:
        one = Speaker(client)
        await one.say("hello")  # the server knows the script now, and there is a connection
        await client.delete(KEY)
        yield one
    finally:
        await close_clients(client)


@contextmanager
def frozen(server: EmbeddedRedis) -> Iterator[None]:
    """It answers nothing within the block."""
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


async def until_sent(proxy: Proxy, word: str) -> None:
    """Until a command with this word went through the proxy."""
    await wait_until("it was sent", lambda: any(word.encode() in each for each in proxy.commands))


async def test_the_calls_of_one_turn_are_one_batch_and_each_gets_its_own_reply(redis_url: str):
    words = [f"word-{n}" for n in range(batches.MAX_CALLS)]
    async with proxy_to(redis_url) as proxy, speaker(proxy.url) as one:
        assert await one.say_all(*words) == words
        assert proxy.open == 1
        assert await one.say_all(*words, "one more") == [*words, "one more"]
        assert proxy.open == 2
        assert await one.counts() == {**dict.fromkeys(words, 2), "one more": 1}


async def test_the_error_of_one_call_is_no_others(redis_url: str):
    async with proxy_to(redis_url) as proxy, speaker(proxy.url) as one:
        first, bad, none, last = await one.say_all("first", "bad", None, "last")
        assert (first, last) == ("first", "last")
        assert isinstance(bad, ResponseError)
        assert str(bad) == "it is bad"
        assert isinstance(none, DataError)  # no argument of a command: nothing is sent
        assert await one.say_all("next") == ["next"]
        assert proxy.open == 1  # it was not closed


async def test_who_is_cancelled_at_any_moment_cancels_no_other(redis_url: str):
    """The reply of a call that was sent is read and dropped: the next one gets its own."""
    async with proxy_to(redis_url) as proxy, speaker(proxy.url) as one:
        for moment in range(30):
            left, gone, right = one.start("left", f"gone-{moment}", "right")
            for _ in range(moment):
                await asyncio.sleep(0)
            gone.cancel()
            assert await asyncio.gather(left, right) == ["left", "right"]
            await asyncio.wait([gone])
            assert await one.say_all(f"next-{moment}") == [f"next-{moment}"]
        assert proxy.open == 1
        counts = await one.counts()
        assert counts["left"] == counts["right"] == 30
        assert all(count == 1 for word, count in counts.items() if "-" in word)
        assert "gone-0" not in counts  # cancelled before it was sent


async def test_nothing_is_sent_for_callers_who_are_all_cancelled(redis_url: str):
    async with speaker(redis_url) as one:
        tasks = one.start("one", "two")
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert await one.say("three") == "three"
        assert await one.counts() == {"three": 1}


async def test_a_lost_connection_is_the_error_of_all_who_wait(redis_url: str):
    """Each call may have been executed; who calls again is served."""
    async with proxy_to(redis_url) as proxy, speaker(proxy.url) as one:
        proxy.drop_reply(1)
        answers = await one.say_all("one", "two", "three")
        assert [type(answer) for answer in answers] == [ConnectionError] * 3
        assert await one.say_all("one", "four") == ["one", "four"]
        assert await one.counts() == {"one": 2, "two": 1, "three": 1, "four": 1}


async def test_an_error_is_one_that_a_call_alone_gets(own_redis: OwnRedis):
    """Redis is killed, and comes back: it doesn't know the script any more."""
    server = own_redis()
    async with speaker(server.url, connections=2) as one:
        server.kill()
        with pytest.raises(ConnectionError):
            await one.client.get(KEY)
        for _ in range(4):  # a connection that stayed in use would be missed here
            answers = await one.say_all("one", "two", "three")
            assert [type(answer) for answer in answers] == [ConnectionError] * 3
        server.start()
        assert await one.say_all("one", "two", "three") == ["one", "two", "three"]


async def test_no_answer_in_time_is_a_timeout_of_each(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(client, "COMMAND_TIMEOUT", 0.5)
    server = own_redis()
    async with speaker(server.url) as one:
        with frozen(server):
            answers = await one.say_all("one", "two")
            assert [type(answer) for answer in answers] == [TimeoutError] * 2
        assert await one.say_all("three", "four") == ["three", "four"]


@pytest.mark.parametrize("command", ["GET", "EVALSHA"])
async def test_what_can_not_be_sent_in_time_is_a_timeout(
    own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch, command: str
):
    """More than the sockets' buffers take, alone and in a batch; the connection is not used again."""
    monkeypatch.setattr(client, "COMMAND_TIMEOUT", 0.5)
    monkeypatch.setattr(batches, "MAX_BYTES", 10**9)
    server = own_redis()
    async with speaker(server.url, connections=1) as one:
        with frozen(server), pytest.raises(TimeoutError):
            await one.client.execute_command(command, "x" * 50_000_000)
        assert await one.say("again") == "again"

        async def is_alone() -> bool:
            return len(await one.client.client_list()) == 1

        await wait_until("the other connection has ended", is_alone)


async def test_a_server_that_forgot_the_script_gets_it_once_for_each_call(redis_url: str):
    """SCRIPT FLUSH: no call is lost, and none is executed twice."""
    words = [f"word-{n}" for n in range(20)]
    async with speaker(redis_url) as one:
        with redis.Redis.from_url(redis_url) as operator:
            operator.script_flush()
        assert await one.say_all(*words) == words
        assert await one.counts() == dict.fromkeys(words, 1)


async def test_a_large_call_goes_alone(redis_url: str):
    """So the small ones don't wait until it is sent."""
    large = "x" * batches.MAX_BYTES
    async with proxy_to(redis_url) as proxy, speaker(proxy.url) as one:
        assert await one.say_all("one", large, "two") == ["one", large, "two"]
        assert proxy.open == 2


async def test_what_was_sent_before_the_client_closed_is_answered(redis_url: str):
    async with proxy_to(redis_url) as proxy, speaker(proxy.url) as one:
        proxy.drop_reply(100)  # it notes the commands
        proxy.delay = lambda: 0.2
        tasks = one.start("one", "two")
        await until_sent(proxy, "two")
        await close_clients(one.client)
        assert all(task.done() for task in tasks)
        assert await asyncio.gather(*tasks) == ["one", "two"]
        with pytest.raises(StoreError, match="The store is closed"):
            await one.say("three")
        await wait_until("no connection is left", lambda: not proxy.open)


async def test_lost_replies_are_lost_for_one_caller(redis_url: str):
    """What `--lost-replies` does: one caller is told that it timed out, though the call was executed."""
    with losing(Loss(0.5, "any")):
        async with speaker(redis_url) as one:
            assert await one.say_all("one", "two") == ["one", "two"]  # a test's own call
            token = repeated.set(True)
            words = [f"word-{n}" for n in range(20)]
            answers = await one.say_all(*words)
            repeated.reset(token)
            lost = [answer for answer in answers if isinstance(answer, TimeoutError)]
            assert 0 < len(lost) < 20
            assert len(lost) + len({*answers} & {*words}) == 20
            assert set(await one.counts()) == {"one", "two", *words}


async def test_in_a_cluster_each_node_has_its_own_batches(cluster_url: str):
    """Calls for keys of all nodes, one of which fails."""
    async with speaker(cluster_url) as one:
        keys = [f"hitl:{{{n}}}:said" for n in range(60)]
        said = [one.say(n, key) for n, key in enumerate(keys)]
        *answers, bad = await asyncio.gather(*said, one.say("bad", keys[0]), return_exceptions=True)
        assert answers == [str(n) for n in range(60)]
        assert isinstance(bad, ResponseError)
