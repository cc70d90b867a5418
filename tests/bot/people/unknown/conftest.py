"""A bot at the local Slack, whose look-ups fail."""

from __future__ import annotations

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox.delivery import Delivery
from bot.people.directory import Directory
from hitl_core.review.service import Reviews
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox


@pytest.fixture
async def channel(sandbox: Sandbox, health: Health) -> SlackChannel:
    client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
    channel = SlackChannel(client, "#agent-approvals", health)
    await channel.start()
    return channel


@pytest.fixture
def delivery(reviews: Reviews, channel: SlackChannel) -> Delivery:
    channels = Channels(channel)
    return Delivery(reviews, channels, Directory(channels), Health())
