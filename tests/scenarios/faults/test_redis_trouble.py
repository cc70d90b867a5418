"""A Redis that accepts no writes, or is down: what the bot, its probes and its log say."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

import aiohttp
import pytest

from bot.health import probes
from hitl_core.store import RedisStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.bots import ROOT, Scene, email
from tests.support.redis_servers.unwritable import CAUSES, Cause, refusing_writes
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]


async def probe(url: str, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url + path) as answer:
        return answer.status, await answer.text()


def base(url: str) -> str:
    return url.removesuffix("/slack/events")


@pytest.mark.every_reply
@pytest.mark.parametrize("cause", CAUSES)
async def test_readyz_is_503_while_redis_takes_no_writes(
    scene: Scene, own_redis: OwnRedis, cause: Cause
) -> None:
    """Fault R6, faults 10, security Low: given a server that takes no writes; then `/readyz` is 503 with the
    reason, and no host or port; afterwards it is 200."""
    scene.redis_url = own_redis().url
    url = base((await scene.bot()).url)
    assert (await probe(url, "/readyz"))[0] == 200
    with refusing_writes(scene.redis_url, cause):
        status, text = await probe(url, "/readyz")
    assert status == 503
    assert f"({cause})" in text
    assert "127.0.0.1" not in text

    async def ready() -> bool:
        return (await probe(url, "/readyz"))[0] == 200

    await wait_until("it is ready again", ready, 20)


@pytest.mark.parametrize("cause", CAUSES)
async def test_a_bot_starts_while_redis_takes_no_writes(
    scene: Scene, own_redis: OwnRedis, cause: Cause, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """faults 10, newcomer 9: given a server that takes no writes, when a bot starts, then it does, and the
    log says why it can't work; when that is over the log says so, and a card is shown and decided."""
    monkeypatch.setattr(probes, "WATCH_INTERVAL", 0.05)
    scene.redis_url = own_redis().url
    await (await RedisStore.open(scene.redis_url)).close()
    with refusing_writes(scene.redis_url, cause):
        bot = await scene.bot()
        assert (await probe(base(bot.url), "/healthz"))[0] == 200
        await wait_until("it says so", lambda: "not ready: Redis" in caplog.text, 20)
        assert f"({cause})" in caplog.text
    await wait_until("it says so", lambda: "ready again after" in caplog.text, 20)
    message = [r.getMessage() for r in caplog.records if r.name == "bot.health.probes"]
    assert len(message) == 2
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    await scene.alice.press(await scene.card("send_email"), "approve")
    assert len((await waiting).execute) == 1


async def test_probes_name_no_host(scene: Scene, own_redis: OwnRedis) -> None:
    """Given Redis that is away; then neither `/readyz` nor `/metrics`
    has its host or port."""
    server = own_redis()
    scene.redis_url = server.url
    url = base((await scene.bot()).url)
    port = server.url.rpartition(":")[2].partition("/")[0]
    server.kill()
    for path in ("/readyz", "/metrics"):
        status, reason = await probe(url, path)
        assert status == 503
        assert "Redis can't be reached" in reason
        assert port not in reason
        assert "127.0.0.1" not in reason
    server.start()


async def test_what_redis_refuses_stays_in_the_log(scene: Scene) -> None:
    """Given a Redis that refuses something; then `/readyz` has none of
    its words."""
    bot = await scene.bot()
    redis = await scene.redis()
    await redis.delete("hitl:{0}:dead-counts")
    await redis.set("hitl:{0}:dead-counts", "x")
    for path in ("/readyz", "/metrics"):
        status, output = await probe(base(bot.url), path)
        assert status == 503
        assert "WRONGTYPE" not in output
    await redis.delete("hitl:{0}:dead-counts")


async def test_no_redis_is_one_sentence_for_each_program(scene: Scene) -> None:
    """newcomer 9: given no Redis; then the bot and the command line end with one line, and an agent's last
    line is that sentence, behind its own few frames."""
    nowhere = "redis://:s3cr3t@localhost:1/0"
    cli = "from hitl_core.cli import main; raise SystemExit(main(['reviews', 'list']))"
    agent = """
import asyncio, os
from hitl_core import Gate, Policy

async def main():
    policy = Policy.from_mapping({"default": "review"})
    async with Gate.connect(os.environ["HITL_REDIS_URL"], policy=policy, agent="billing"):
        pass

asyncio.run(main())
"""

    async def output(*words: str) -> list[str]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **scene.environment(HITL_REDIS_URL=nowhere)},
        )  # fmt: skip
        said = (await process.communicate())[0].decode()
        assert process.returncode != 0
        assert "s3cr3t" not in said
        return said.splitlines()

    bot, listed, ran = await asyncio.gather(
        output("-m", "bot", "serve"), output("-c", cli), output("-c", agent)
    )
    assert len(bot) == len(listed) == 1, (bot, listed)
    assert "HITL_REDIS_URL" in bot[0]
    for said in (bot, listed, ran):
        assert "can't be reached: connection refused" in said[-1]
    assert len(ran) < 40, ran
