"""Creates the bot's channels from its settings: for the bot, and for the check of a policy."""

from __future__ import annotations

from collections.abc import Mapping

from slack_sdk.web.async_client import AsyncWebClient

from hitl_core.errors import SettingsError

from .channels.registry import Channels
from .channels.slack import SlackChannel
from .health import Health
from .settings import Settings

#: The time limit of one call to Slack in the check of a policy, in seconds.
CHECK_TIMEOUT = 10


def make_slack(token: str, default: str, url: str, health: Health, *, timeout: int) -> SlackChannel:
    """`default` is the bot's own channel, `timeout` the time limit of one call in seconds."""
    client = AsyncWebClient(
        token=token,
        base_url=url,
        timeout=timeout,
        retry_handlers=[],  # after a lost answer a post must be searched for, not repeated
    )
    return SlackChannel(client, default, health)


def channels_to_check(environment: Mapping[str, str]) -> Channels:
    """All channels, only for look-ups. Raises SettingsError if a setting is missing."""
    token, default, url = (
        environment.get(name, "").strip()
        for name in ("SLACK_BOT_TOKEN", "HITL_CHANNEL", "SLACK_API_URL")
    )
    if not token.startswith("xoxb-") or not default:
        raise SettingsError("Set SLACK_BOT_TOKEN and HITL_CHANNEL to the bot's values.")
    health, url = Health(quiet=True), url or Settings.slack_api_url
    return Channels(make_slack(token, default, url, health, timeout=CHECK_TIMEOUT))
