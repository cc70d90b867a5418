"""A local Slack and our Slack channel, without the rest of the bot."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.slack.channel import SlackChannel
from bot.health import Health
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from slack_sandbox.server import running_sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
async def channel(sandbox: Sandbox) -> SlackChannel:
    client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
    channel = SlackChannel(client, "#agent-approvals", Health())
    await channel.start()
    return channel
