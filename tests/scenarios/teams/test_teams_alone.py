"""`hitl serve` with the settings of Teams only: no Slack, and none of Slack's packages."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urljoin
from uuid import uuid4

import aiohttp
import pytest

from bot.channels.teams.transport.requests import signing_keys
from hitl_core import Gate, Policy
from teams_sandbox.client import Person
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox
from teams_sandbox.validation import elements_in
from teams_sandbox.workspace.acme import ALICE, APPROVALS, APPROVALS_TEAM, CARL, OPS, OPS_TEAM
from tests.support.bots import CANARY, CLICK, Process, Scene, email

POLICY = {"default": "review", "escalate": [{"after": "1h", "to": "teams:Operations"}]}


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with running_sandbox(answer_timeout=CLICK) as sandbox:
        yield sandbox


@asynccontextmanager
async def serve(
    sandbox: Sandbox, redis_url: str, log: Path, **changed: str
) -> AsyncIterator[Process]:
    env = environment(sandbox, redis_url) | changed
    process = await Process.start("bot", "serve", env=env, log=log)
    try:
        await process.listening()
        sandbox.bot_url = process.url
        yield process
    finally:
        await process.kill()
    assert CANARY not in process.output
    assert "Traceback" not in process.output


def environment(sandbox: Sandbox, redis_url: str) -> dict[str, str]:
    return {
        **sandbox.settings(),
        "HITL_CHANNEL": "teams:Agent approvals",
        "HITL_REDIS_URL": redis_url,
        "HITL_PORT": "0",
        "HITL_CLICK_SECONDS": str(CLICK),
    }


async def test_the_first_request_is_checked_however_long_the_keys_took(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a machine on which the keys come too late for a click; then a bot that is ready has them. For ten
    seconds it answered each press with 503."""
    monkeypatch.setattr(signing_keys, "FETCH_TIMEOUT", 0.0)
    async with running_sandbox(answer_timeout=CLICK) as sandbox:
        bot = await scene.bot(**sandbox.settings())
        sandbox.bot_url = bot.endpoints["teams"]
        await sandbox.installs.add(APPROVALS_TEAM, ALICE)
        statuses = [delivery["status"] for delivery in sandbox.bot_client.deliveries]
        assert statuses
        assert {*statuses} == {200}
        await scene.close()


async def test_a_bot_with_teams_alone(sandbox: Sandbox, redis_url: str, tmp_path: Path) -> None:
    """Given a bot that was started before the app is in any team; when it is added to the team of
    HITL_CHANNEL, then a review is shown there; when Alice approves, the agent goes on; at SIGTERM the bot
    ends with 0."""
    alice = Person(sandbox, ALICE)
    async with serve(sandbox, redis_url, tmp_path / "log") as bot:
        assert bot.url.endswith("/api/messages")
        assert "HITL_CHANNEL is teams:Agent approvals" in bot.output
        await sandbox.installs.add(APPROVALS_TEAM, ALICE)
        async with agent(redis_url) as gate:
            waiting = asyncio.create_task(gate.review([email()], thread_id=f"t-{uuid4().hex}"))
            card = await alice.wait_for_card(APPROVALS, "send_email", timeout=30)
            await alice.press(card, "Approve")
            assert (await asyncio.wait_for(waiting, 30)).execute
            await alice.wait_for_card(APPROVALS, "approved by", timeout=30)
        async with (
            aiohttp.ClientSession() as session,
            session.get(urljoin(bot.url, "/readyz")) as answer,
        ):
            assert (answer.status, (await answer.json())["problems"]) == (200, {})
        bot.signal(signal.SIGTERM)
        assert await bot.wait_end() == 0


async def test_escalate_to_a_team_by_its_name(
    sandbox: Sandbox, redis_url: str, tmp_path: Path
) -> None:
    """Given two teams, which the policy names; when Alice escalates with a reason, then Carl reads it in the
    other team, and approves there."""
    alice, carl = Person(sandbox, ALICE), Person(sandbox, CARL)
    async with serve(sandbox, redis_url, tmp_path / "log"), agent(redis_url) as gate:
        await sandbox.installs.add(APPROVALS_TEAM, ALICE)
        await sandbox.installs.add(OPS_TEAM, CARL)
        waiting = asyncio.create_task(gate.review([email()], thread_id=f"t-{uuid4().hex}"))
        card = await alice.wait_for_card(APPROVALS, "send_email", timeout=30)
        (button,) = [one for one in alice.buttons(card) if one.startswith("Escalate")]
        await alice.press(card, button)
        (send,) = [one for one in alice.buttons(card) if one.startswith("Escalate")]
        form = [one for _, one in elements_in(alice.card(card))]
        (field,) = [one["id"] for one in form if str(one.get("type")).startswith("Input.")]
        await alice.press(card, send, {field: "I don't know this customer"})
        escalated = await carl.wait_for_card(OPS, "I don't know this customer", timeout=30)
        await carl.press(escalated, "Approve")
        assert (await asyncio.wait_for(waiting, 30)).execute


async def test_policy_check_asks_teams(sandbox: Sandbox, redis_url: str, tmp_path: Path) -> None:
    """Given a policy with a team in which the app is, and one in which it isn't; then the check names the
    second one."""
    log, file = tmp_path / "log", tmp_path / "policy.yaml"
    async with serve(sandbox, redis_url, log):
        await sandbox.installs.add(APPROVALS_TEAM, ALICE)
        file.write_text(json.dumps({**POLICY, "notify": f"teams:{ALICE}"}))
    check = await Process.start(
        "hitl_core", "policy", "check", "--channels", str(file),
        env=environment(sandbox, redis_url), log=tmp_path / "check",
    )  # fmt: skip
    assert await check.wait_end(60) == 1, check.output
    assert f"ok  teams:{ALICE}" in check.output
    assert "NOT USABLE  teams:Operations: there is no team or channel Operations" in check.output


async def test_a_wrong_secret_is_one_sentence(
    sandbox: Sandbox, redis_url: str, tmp_path: Path
) -> None:
    env = environment(sandbox, redis_url) | {"TEAMS_CLIENT_SECRET": "wrong"}
    bot = await Process.start("bot", "serve", env=env, log=tmp_path / "log")
    assert await bot.wait_end(60) == 2
    (line,) = bot.output.splitlines()
    assert "TEAMS_CLIENT_SECRET" in line
    assert "wrong" not in line


@asynccontextmanager
async def agent(redis_url: str) -> AsyncIterator[Gate]:
    policy = Policy.from_mapping(POLICY)
    async with Gate.connect(redis_url, policy=policy, agent="crm") as gate:
        yield gate
