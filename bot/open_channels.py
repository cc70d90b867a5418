"""Opens the channels that the settings have: for the bot, and for the check of a policy."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from hitl_core.store import Store

from .channels.connection import Connection
from .channels.registry import Channels
from .channels.slack import make_channel, open_slack
from .health import Health
from .settings import Settings

#: The time limit of one call to Slack in the check of a policy, in seconds.
CHECK_TIMEOUT = 10


@asynccontextmanager
async def open_connections(
    settings: Settings, store: Store, health: Health
) -> AsyncGenerator[list[Connection], None]:
    """All of them, that with the bot's own place first. Raises SettingsError if one refuses its settings."""
    yield [await open_slack(settings, health)]


def channels_to_check(environment: Mapping[str, str]) -> Channels:
    """All channels, only for look-ups. Raises SettingsError if a setting is missing."""
    settings = Settings.from_environment(environment, only_look_ups=True)
    return Channels(make_channel(settings, Health(quiet=True), timeout=CHECK_TIMEOUT))
