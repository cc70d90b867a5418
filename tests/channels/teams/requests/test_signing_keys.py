"""The keys that sign Teams' tokens: fetched in advance, again for a new key, and missed aloud."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from bot.channels.teams.transport import (
    BoundedClient,
    SigningKeys,
)
from bot.channels.teams.transport.requests.signing_keys import RETRY_INTERVAL, KeysUnavailable
from bot.health import Health
from tests.support.teams.endpoint import Bot, running
from tests.support.teams.tokens import (
    jwk,
    make_key,
)


async def test_that_the_keys_can_not_be_fetched_is_told_after_any_error() -> None:
    """Given an error of the HTTP library that it doesn't document; then it is told, and what fetches the keys
    goes on."""

    class Failing(BoundedClient):
        async def send(self, *args: Any, **options: Any) -> httpx.Response:
            raise RuntimeError("canary")

    health = Health()
    async with Failing() as client:
        keys = SigningKeys(client, "http://127.0.0.1:1/keys", health)
        with pytest.raises(KeysUnavailable):
            await keys.find("k1")
    [problem] = health.current_problems()
    assert "can't be fetched: RuntimeError" in problem.text


async def test_without_keys_nobody_is_let_in(bot: Bot) -> None:
    """Given a key server that is down from the start; then requests are 503 and the problem is told, until it
    works again."""
    bot.login.status = 503
    async with running(bot.login, warm=False) as late:
        assert await late.send() == 503
        [problem] = late.health.current_problems()
        assert "503" in problem.text
        assert late.handled == []


async def test_keys_outlive_their_server_and_a_new_key_is_fetched(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a key server that goes down; then its keys still hold, and whether there is a new one is not
    known. Given a new key; then it is fetched once, and strangers with made-up ids cause no further fetches.
    """
    path = "bot.channels.teams.transport.requests.signing_keys.RETRY_INTERVAL"
    monkeypatch.setattr(path, 0.0)
    new = make_key()
    bot.login.status = 500
    assert await bot.send(bot.login.token(new, kid="k2")) == 503
    assert await bot.send() == 200
    assert len(bot.health.current_problems()) == 1
    bot.login.status, bot.login.keys = 200, [*bot.login.keys, jwk(new, "k2")]
    assert await bot.send(bot.login.token(new, kid="k2")) == 200
    assert bot.health.current_problems() == ()
    monkeypatch.setattr(path, RETRY_INTERVAL)
    before = bot.login.fetches
    for number in range(20):
        assert await bot.send(bot.login.token(new, kid=f"guess{number}")) == 401
    assert bot.login.fetches == before


@pytest.mark.parametrize(
    "keys", [[], [{"kid": "k1"}], ["k1"], [{"kid": "k1", "kty": "oct", "k": "c2VjcmV0"}], None]
)
async def test_keys_that_can_not_be_read_are_none(bot: Bot, keys: Any) -> None:
    """Given a key server that answers with something else; then requests are 503, and the problem is told."""
    bot.login.keys = keys
    async with running(bot.login, warm=False) as late:
        assert await late.send() == 503
        assert len(late.health.current_problems()) == 1


async def test_a_fetch_does_not_block_the_others(bot: Bot) -> None:
    """Given a key server that does not answer; then the bot answers other requests meanwhile."""
    release, asked = asyncio.Event(), asyncio.Event()

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await release.wait()
        writer.close()

    server = await asyncio.start_server(stall, "127.0.0.1", 0)
    bot.login.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys"
    async with server, running(bot.login, warm=False) as late:
        waiting = asyncio.create_task(late.send())
        await asked.wait()
        async with late.session.get(late.url.replace("api/messages", "healthz")) as answer:
            assert answer.status == 200
        assert not waiting.done()
        release.set()
        assert await waiting == 503
