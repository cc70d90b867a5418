"""Checked after every scenario: no card has two messages, all requests to Slack are within its limits, and no
log contains an argument.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

import teams_sandbox.server
from slack_sandbox.client.actor import Actor
from slack_sandbox.server import running_sandbox
from teams_sandbox.workspace.acme import ALICE, APPROVALS, ESCALATIONS, GROUP_CHAT, OPS
from tests.support.bots import CANARY, CLICK, Scene, duplicate_cards
from tests.support.slack_limits import assert_calls
from tests.support.teams.users import TeamsUsers


@pytest.fixture
async def scene(
    redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Scene]:
    caplog.set_level(logging.INFO)
    async with running_sandbox(answer_timeout=CLICK) as sandbox, Actor(sandbox.url) as actor:
        scene = Scene(sandbox, actor, redis_url, tmp_path)
        try:
            yield scene
        finally:
            await scene.close()
        assert duplicate_cards(sandbox) == []
        assert_calls(sandbox.api.calls)
        # At this point `caplog.text` is that of the fixture's own end, and so empty.
        ours = [logging.Formatter().format(record) for record in caplog.get_records("call")]
        logs = [*ours, *(process.output for process in scene.processes)]
        for log in logs:
            assert CANARY not in log
            assert "Traceback" not in log


@pytest.fixture
def bot_settings() -> dict[str, str]:
    """Further settings of the bot."""
    return {}


@pytest.fixture
async def users(scene: Scene, bot_settings: dict[str, str]) -> AsyncIterator[TeamsUsers]:
    """People of a tenant, and a bot that has Slack and this tenant."""
    async with (
        teams_sandbox.server.running_sandbox() as sandbox,
        aiohttp.ClientSession() as session,
    ):
        users = TeamsUsers(sandbox, session)
        try:
            bot = await scene.bot(**sandbox.settings(), **bot_settings)
            sandbox.bot_url = bot.endpoints["teams"]
            for user in sandbox.workspace.users.values():
                if user.has_app:
                    await users.install(user.id)
            for place in (APPROVALS, OPS, ESCALATIONS, GROUP_CHAT):
                await users.install(ALICE, place)
            yield users
        finally:
            await scene.close()
