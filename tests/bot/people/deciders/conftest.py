"""A bot that delivers cards."""

from __future__ import annotations

import pytest

from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from hitl_core.review.service import Reviews
from tests.bot.people.deciders.bot import Bot


@pytest.fixture
def bot(reviews: Reviews, channel: SlackChannel, health: Health) -> Bot:
    return Bot(reviews, channel, health)
