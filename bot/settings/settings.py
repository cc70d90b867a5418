"""Settings from environment variables: names, defaults, and an error text for each missing or wrong one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from ipaddress import ip_address
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from hitl_core.defaults import DEFAULT_REDIS_URL
from hitl_core.errors import SettingsError
from hitl_core.model import is_guid, split_id
from hitl_core.store import REDIS_SCHEMES, parse_redis_url, read_wait_replicas

from .. import click_budget
from .names import find_typos, missing_text, required_settings, typo_question

#: One half of the bot: `http` answers clicks and agents, `workers` shows reviews and escalates them.
BotRole = Literal["http", "workers"]

_EXAMPLES = {"slack": "#agent-approvals", "teams": "teams:19:…@thread.tacv2"}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The bot's settings. Each field is the environment variable with its name in capitals."""

    slack_bot_token: str = ""
    """The bot's token, `xoxb-…`: api.slack.com/apps, OAuth & Permissions."""
    slack_signing_secret: str = ""
    """The secret with which Slack signs its requests: api.slack.com/apps, Basic Information."""
    slack_app_token: str = ""
    """For Socket Mode, instead of the signing secret: an app-level token, `xapp-…`, from the same page."""
    slack_api_url: str = "https://slack.com/api/"
    """Another URL for Slack's Web API, for example a sandbox's."""
    teams_client_id: str = ""
    """The bot's Application (client) ID: Azure portal, your Azure Bot, Configuration, Microsoft App ID."""
    teams_tenant_id: str = ""
    """Your Directory (tenant) ID, from the same page. Only people of this tenant can use the bot."""
    teams_client_secret: str = ""
    """The value of a client secret: Microsoft Entra, App registrations, Certificates & secrets."""
    teams_managed_identity: str = ""
    """Instead of a secret: the client ID of the managed identity with which the bot runs, or `system`."""
    teams_cloud_url: str = ""
    """Only for a sandbox: the URL of its login, its Graph and its Connector."""
    hitl_channel: str
    """The bot's own place, where the policy names none: `#agent-approvals`, or `teams:` and a team's name."""
    hitl_redis_url: str = DEFAULT_REDIS_URL
    """The URL of the Redis that the agents use too; also of a Redis Cluster, or of Sentinels."""
    hitl_redis_wait_replicas: int = 0
    """How many replicas of Redis must have a decision before it is acknowledged; agents use it too."""
    hitl_policy: str = ""
    """A policy file, or a folder of <agent>.yaml, for agents of the HTTP API; other agents load theirs."""
    hitl_people: str = ""
    """A YAML file that says which identities in several channels are one human, with one vote."""
    hitl_host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 in a container."""
    hitl_port: int = 3000
    """The port to listen on."""
    hitl_click_seconds: float = click_budget.CLICK_SECONDS
    """How long a click may take, in seconds, before it fails with a message. Slack itself waits 3 seconds."""
    hitl_retention_days: int = 30
    """How long done reviews, and exported entries of the audit, are kept. It holds for the agents too."""
    hitl_digest_after: int = 0
    """If more cards than this wait for one conversation, reviews of one agent share a message; 0: never."""
    hitl_log_level: str = "INFO"
    """DEBUG, INFO, WARNING or ERROR."""
    hitl_log_format: str = "text"
    """`text`, or `json`: one JSON object a line."""

    @property
    def has_slack(self) -> bool:
        return bool(self.slack_bot_token)

    @property
    def has_teams(self) -> bool:
        return bool(self.teams_client_id)

    @property
    def has_plaintext_redis(self) -> bool:
        """Whether arguments and decisions are sent to Redis unencrypted over a network."""
        scheme = _scheme(self.hitl_redis_url)
        encrypted = scheme.startswith("rediss") or scheme == "unix"
        hosts = urlsplit(self.hitl_redis_url).netloc.rpartition("@")[2].split(",")
        return not encrypted and not all(is_local(f"//{host}") for host in hosts)

    def default_in(self, channel: str) -> str:
        """HITL_CHANNEL without its prefix, if it is in this channel, else ""."""
        name, target = _split_place(self.hitl_channel)
        return target if name == channel else ""

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str], *, only_look_ups: bool = False
    ) -> Self:
        """Raises SettingsError, which names all missing or misspelt settings, or the first wrong one. For
        `only_look_ups`, what only clicks need may be missing.
        """
        known = {field.name: field.name.upper() for field in fields(cls)}
        values: dict[str, Any] = {
            name: environment[variable].strip()
            for name, variable in known.items()
            if environment.get(variable, "").strip()
        }
        typos = find_typos(environment, set(known.values()))
        required = required_settings(values.keys(), only_look_ups=only_look_ups)
        missing = [known[name] for name in known if name in required - values.keys()]
        if missing:
            raise SettingsError(missing_text(missing, typos, values.keys()))
        if typos := {name: meant for name, meant in typos.items() if name.startswith("HITL_")}:
            raise SettingsError(f"{typo_question(typos)} Rename or remove it.")
        for name, most in (("hitl_port", 65_535), ("hitl_digest_after", 100_000)):
            if name in values:
                values[name] = _whole_number(name, values[name], most)
        if "hitl_redis_wait_replicas" in values:
            values["hitl_redis_wait_replicas"] = read_wait_replicas(environment)
        if "hitl_click_seconds" in values:
            values["hitl_click_seconds"] = _click_seconds(values["hitl_click_seconds"])
        if "hitl_retention_days" in values:
            values["hitl_retention_days"] = _retention_days(values["hitl_retention_days"])
        for name in ("teams_client_id", "teams_tenant_id", "teams_managed_identity"):
            if name in values:
                values[name] = values[name].lower()
        settings = cls(**values)
        _check_values(settings)
        return settings


def _check_values(settings: Settings) -> None:
    if settings.has_slack:
        _check_slack(settings)
    if settings.has_teams:
        _check_teams(settings)
    _check_default(settings)
    _check_redis(settings.hitl_redis_url)
    if settings.hitl_log_level.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise SettingsError("HITL_LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR.")
    if settings.hitl_log_format not in ("text", "json"):
        raise SettingsError("HITL_LOG_FORMAT must be text or json.")


def _check_redis(url: str) -> None:
    if _scheme(url) not in REDIS_SCHEMES:
        raise SettingsError("HITL_REDIS_URL must be a URL like redis://localhost:6379/0.")
    try:
        parse_redis_url(url)
    except SettingsError as error:
        raise SettingsError(f"{error} It is from HITL_REDIS_URL.") from None


def _check_slack(settings: Settings) -> None:
    if not settings.slack_bot_token.startswith("xoxb-"):
        raise SettingsError("SLACK_BOT_TOKEN is not a bot token: it must begin with xoxb-.")
    if settings.slack_app_token and not settings.slack_app_token.startswith("xapp-"):
        raise SettingsError("SLACK_APP_TOKEN is not an app-level token: it must begin with xapp-.")
    if _scheme(settings.slack_api_url) not in ("http", "https"):
        raise SettingsError("SLACK_API_URL must be a URL like https://….")
    if not settings.slack_api_url.endswith("/"):
        raise SettingsError("SLACK_API_URL must end in a slash, like https://slack.com/api/.")
    if _scheme(settings.slack_api_url) == "http" and not is_local(settings.slack_api_url):
        raise SettingsError(
            "SLACK_API_URL must be https://…: only a sandbox on this machine may be http://."
        )


def _check_teams(settings: Settings) -> None:
    for name in ("teams_client_id", "teams_tenant_id"):
        if not is_guid(getattr(settings, name).lower()):
            raise SettingsError(
                f"{name.upper()} must be an ID like 8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11."
            )
    secret, identity = settings.teams_client_secret, settings.teams_managed_identity
    if secret and identity:
        raise SettingsError("TEAMS_CLIENT_SECRET and TEAMS_MANAGED_IDENTITY are set: remove one.")
    if is_guid(secret.lower()):
        raise SettingsError(
            "TEAMS_CLIENT_SECRET is a secret's ID: take its value, which Azure shows only once."
        )
    if identity and identity != "system" and not is_guid(identity.lower()):
        raise SettingsError(
            "TEAMS_MANAGED_IDENTITY must be `system`, or the client ID of a managed identity."
        )
    if cloud := settings.teams_cloud_url:
        if _scheme(cloud) not in ("http", "https"):
            raise SettingsError("TEAMS_CLOUD_URL must be a URL like http://127.0.0.1:3978.")
        if not is_local(cloud):  # the server there says who everybody is
            raise SettingsError(
                "TEAMS_CLOUD_URL takes Microsoft's place: only a sandbox on this machine may do that."
            )


def _check_default(settings: Settings) -> None:
    name, target = _split_place(settings.hitl_channel)
    systems = {"slack": settings.has_slack, "teams": settings.has_teams}
    if not systems[name]:
        other = "teams" if name == "slack" else "slack"
        raise SettingsError(
            f"HITL_CHANNEL is {settings.hitl_channel}, a place in {name.title()}, which this bot "
            f"does not have: name one in {other.title()}, like {_EXAMPLES[other]}."
        )
    if name == "slack" and not target.startswith(("#", "C", "G", "D")):
        raise SettingsError("HITL_CHANNEL must be #a-channel or a channel's id, like C0123ABCD.")
    if name == "teams" and (not target or is_guid(target.lower()) or target.startswith("group:")):
        raise SettingsError(
            f"HITL_CHANNEL must be a channel, like {_EXAMPLES['teams']}, or teams: and a team's name."
        )


def _split_place(text: str) -> tuple[Literal["slack", "teams"], str]:
    """The chat system and the target of HITL_CHANNEL: `#ops`, `teams:Ops`."""
    name, target = split_id(text)
    if name in ("slack", "teams"):
        return name, target.strip()
    return "slack", text


def is_local(url: str) -> bool:
    """Whether a URL's host is this machine: `localhost`, or a loopback address."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


def _click_seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,2}(\.[0-9]+)?", text) or not 1 <= float(text) <= 60:
        raise SettingsError(f"HITL_CLICK_SECONDS is {text!r}; it must be a number from 1 to 60.")
    return float(text)


def _retention_days(text: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", text) or int(text) == 0:
        raise SettingsError(f"HITL_RETENTION_DAYS is {text!r}; it must be a number from 1 to 9999.")
    return int(text)


def _whole_number(name: str, text: str, most: int) -> int:
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) > most:
        raise SettingsError(f"{name.upper()} is {text!r}; it must be a number from 0 to {most}.")
    return int(text)
