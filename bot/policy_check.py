"""`hitl policy check --slack FILE`: whether the channels, people and groups of a policy exist in Slack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from slack_sdk.web.async_client import AsyncWebClient

from hitl_core.errors import SettingsError
from hitl_core.model import Place
from hitl_core.policy import Policy

from .channels.contract import ChannelError, NotFound
from .channels.registry import Channels, NotConfigured
from .channels.slack import SlackChannel
from .health import Health
from .policy_places import policy_places
from .settings import Settings
from .text import one_line

#: The time limit of one call to Slack, in seconds.
TIMEOUT = 10


class Finding(NamedTuple):
    """Whether a place, person or group can be used; `unknown` if the look-up failed."""

    name: Place
    usable: Literal["yes", "no", "unknown"]
    why: str = ""

    def __str__(self) -> str:
        word = {"yes": "ok", "no": "NOT USABLE", "unknown": "NOT KNOWN"}[self.usable]
        return one_line(f"{word}  {self.name}{': ' if self.why else ''}{self.why}")


async def check_policy(policy: Policy, channels: Channels) -> list[Finding]:
    """Checks each place once, those of the policy's default first. Changes nothing."""
    findings: list[Finding] = []
    for one in policy_places(policy):
        place = one.place
        try:
            await channels.of_place(place).check_place(place)
        except NotConfigured as error:
            findings.append(Finding(place, "no", f"{error} (in {one.where})"))
        except NotFound as error:
            findings.append(Finding(place, "no", str(error)))
        except ChannelError as error:
            findings.append(Finding(place, "unknown", str(error)))
        else:
            findings.append(Finding(place, "yes"))
    return findings


def open_channels(environment: Mapping[str, str]) -> Channels:
    """Raises SettingsError if a setting is missing."""
    token, default, url = (
        environment.get(name, "").strip()
        for name in ("SLACK_BOT_TOKEN", "HITL_CHANNEL", "SLACK_API_URL")
    )
    if not token.startswith("xoxb-") or not default:
        raise SettingsError("Set SLACK_BOT_TOKEN and HITL_CHANNEL to the bot's values.")
    address = url or Settings.slack_api_url
    client = AsyncWebClient(token=token, base_url=address, timeout=TIMEOUT, retry_handlers=[])
    return Channels(SlackChannel(client, default, Health(quiet=True)))
