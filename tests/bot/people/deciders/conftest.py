"""A bot that delivers cards."""

from __future__ import annotations

import pytest

from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.bot.people.deciders.bot import Bot
from tests.support.builders import START


@pytest.fixture
def reviews() -> Reviews:
    return Reviews(MemoryStore(lambda: START))


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
def bot(reviews: Reviews, channel: SlackChannel, health: Health) -> Bot:
    return Bot(reviews, channel, health)
