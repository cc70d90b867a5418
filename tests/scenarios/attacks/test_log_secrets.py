"""A complete run at DEBUG, in both log formats: no log of a bot or agent contains an argument, a token or a
password.
"""

from __future__ import annotations

import json
import logging
import re
import signal
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
import redis

import teams_sandbox.server
from hitl_core import ToolCall
from hitl_core.store import RedisStore
from hitl_core.telemetry import JsonFormatter
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.sandbox import BOT_TOKEN, SIGNING_SECRET
from teams_sandbox.workspace.acme import ALICE as TEAMS_ALICE
from teams_sandbox.workspace.acme import APPROVALS
from tests.api.client import Client, issue
from tests.support.bots import CANARY, POLICY, Process, Scene, email
from tests.support.teams.scene import card as teams_card
from tests.support.teams.users import TeamsUsers

PASSWORD = "redis-pass-77d1"
#: What a stranger sends to be quoted.
JUNK = "stranger-canary-19c4"
CALL = {"id": "c9", "name": "send_email", "args": {"to": f"{CANARY}@example.com", "copies": 1}}


def protect(server: EmbeddedRedis) -> str:
    """The address of this server, which wants a password from now on."""
    with redis.Redis.from_url(server.url) as client:
        client.config_set("requirepass", PASSWORD)
    return server.url.replace("redis://", f"redis://:{PASSWORD}@")


async def attack(url: str, token: str) -> None:
    """Requests of strangers, and an agent's own mistakes: each is refused."""
    forged = {"X-Slack-Request-Timestamp": "1", "X-Slack-Signature": f"v0={JUNK}"}
    bearer = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession() as session:
        for path, headers, body in (
            ("/slack/events", forged, JUNK),
            ("/slack/events", {}, JUNK),
            ("/api/messages", {"Authorization": f"Bearer {JUNK}"}, JUNK),
            ("/v1/reviews", {"Authorization": f"Bearer {JUNK}"}, JUNK),
            ("/v1/reviews", bearer, f'{{"{CANARY}": "{CANARY}"}}'),
            ("/v1/reviews", bearer, f'["{CANARY}"'),
            (f"/v1/reviews/{JUNK}/once", {}, "{}"),
        ):
            async with session.post(url + path, headers=headers, data=body) as answer:
                assert 400 <= answer.status < 500, (path, answer.status)


async def run_everything(scene: Scene, bot: Process) -> list[str]:
    """An agent in process and one over HTTP; people approve, edit, reject and are refused. The tokens."""
    base = bot.url.removesuffix("/slack/events")
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.stranger.press(card, "approve")
    await scene.alice.press(card, "edit")
    assert (await scene.alice.submit(copies=3))["ok"]
    await scene.bob.press(card, "approve")
    outcome = await waiting

    def send_email(to: str, copies: int) -> str:
        raise ValueError(f"no such address: {to}")

    await outcome.run({"send_email": send_email})
    second = scene.ask(gate, ToolCall("c2", "note", {"text": CANARY}))
    await scene.alice.press(await scene.card("note"), "approve")
    await second

    store = await RedisStore.open(scene.redis_url)
    _, token = await issue(store, "crm")
    await store.close()
    async with aiohttp.ClientSession() as session:
        client = Client(session, base, token)
        review = (await client.submit(CALL, thread="t-http")).body
        await scene.alice.press(await scene.card("t-http"), "approve")
        await client.read(review["id"], wait=10)
        assert (await client.once(review["id"], "c9")).body["run"] is True
        assert (await client.done(review["id"], c9=CANARY)).status == 200
    await attack(base, token)
    return [token]


@pytest.mark.parametrize("format", ["text", "json"])
async def test_no_log_has_a_secret(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis], caplog: pytest.LogCaptureFixture,
    format: str,
) -> None:  # fmt: skip
    """T19, T71: given a bot with Slack and Teams at DEBUG, an agent, people, strangers and a Redis with a
    password; then no line of any logger has an argument, a token, a secret or a password."""
    caplog.set_level(logging.DEBUG)
    scene.redis_url = protect(own_redis())
    policy = scene.folder / "policy.yaml"
    policy.write_text(POLICY)
    async with teams_sandbox.server.running_sandbox() as tenant, aiohttp.ClientSession() as session:
        users = TeamsUsers(tenant, session)
        bot = await scene.bot_process(
            "", HITL_LOG_LEVEL="DEBUG", HITL_LOG_FORMAT=format, HITL_POLICY=str(policy),
            **tenant.settings(),
        )  # fmt: skip
        tenant.bot_url = bot.url.replace("/slack/events", "/api/messages")
        for place in ("", APPROVALS):
            await (users.install(TEAMS_ALICE, place) if place else users.install(TEAMS_ALICE))
        gate = await scene.gate(POLICY + f"notify: 'teams:{APPROVALS}'\n")
        waiting = scene.ask(gate, email("c3"))
        await users.press(TEAMS_ALICE, "Approve", await teams_card(users, "send_email"))
        await waiting
        secrets = [
            CANARY, JUNK, PASSWORD, BOT_TOKEN, SIGNING_SECRET, tenant.app.client_secret, "Bearer ey",
            *await run_everything(scene, bot),
        ]  # fmt: skip
        await bot_ends(bot)
    agents = [
        text
        for record in caplog.records
        if record.name.partition(".")[0] in ("hitl_core", "redis", "asyncio")
        for text in (logging.Formatter().format(record), JsonFormatter().format(record))
    ]
    for log in (bot.output, *agents):
        for secret in secrets:
            assert secret not in log
    lines = bot.output.splitlines()
    assert len(lines) > 10
    if format == "json":
        check_json([json.loads(line) for line in lines])


async def bot_ends(bot: Process) -> None:
    bot.signal(signal.SIGINT)
    await bot.wait_end()


def check_json(lines: list[dict[str, Any]]) -> None:
    """Each line that names a review has its id, and its thread."""
    about = [line for line in lines if re.search(r"\b0-[0-9a-f]{32}\b", line["message"])]
    assert about
    for line in about:
        assert line["review"] in line["message"]
        assert "thread" in line, line
    for line in lines:
        assert {"time", "level", "logger", "message"} <= line.keys()
