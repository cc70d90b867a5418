"""Settings from environment variables: names, defaults, and an error text for each missing or wrong one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from hitl_core.errors import SettingsError
from hitl_core.sentences import join_names

from . import click_budget

#: One half of the bot: `http` answers clicks and agents, `workers` shows reviews and escalates them.
BotRole = Literal["http", "workers"]

_PREFIXES = ("HITL_", "SLACK_")
APP_TOKEN = "SLACK_APP_TOKEN"
#: A variable whose name is this similar to a setting's (difflib's ratio) is probably a typo.
SIMILARITY = 0.88


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The bot's settings. Each field is the environment variable with its name in capitals."""

    slack_bot_token: str
    """The bot's token, `xoxb-…`: api.slack.com/apps, OAuth & Permissions."""
    slack_signing_secret: str = ""
    """The secret with which Slack signs its requests: api.slack.com/apps, Basic Information."""
    slack_app_token: str = ""
    """For Socket Mode, instead of the signing secret: an app-level token, `xapp-…`, from the same page."""
    hitl_channel: str
    """The channel for reviews without a place in the policy: `#agent-approvals`, or a channel's id."""
    slack_api_url: str = "https://slack.com/api/"
    """Another URL for Slack's Web API, for example a sandbox's."""
    hitl_redis_url: str = "redis://localhost:6379/0"
    """The URL of the Redis that the agents use too."""
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
    hitl_log_level: str = "INFO"
    """DEBUG, INFO, WARNING or ERROR."""

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
        required = {field.name for field in fields(cls) if field.default is MISSING}
        if "slack_app_token" not in values and not only_look_ups:
            required.add("slack_signing_secret")
        typos = _typos(environment, set(known.values()))
        missing = [known[name] for name in known if name in required - values.keys()]
        if missing:
            raise SettingsError(_missing_text(missing, typos))
        if typos := {name: meant for name, meant in typos.items() if name.startswith("HITL_")}:
            raise SettingsError(f"{_typo_question(typos)} Rename or remove it.")
        if "hitl_port" in values:
            values["hitl_port"] = _port(values["hitl_port"])
        if "hitl_click_seconds" in values:
            values["hitl_click_seconds"] = _click_seconds(values["hitl_click_seconds"])
        settings = cls(**values)
        _check_values(settings)
        return settings


def _typos(environment: Mapping[str, str], known: set[str]) -> dict[str, str]:
    """Set variables that look like an unset setting, with that setting's name."""
    unset = [name for name in known if not environment.get(name, "").strip()]
    names = sorted(name for name in environment.keys() - known if name.startswith(_PREFIXES))
    near = ((name, get_close_matches(name, unset, 1, SIMILARITY)) for name in names)
    return {name: matches[0] for name, matches in near if matches}


def _missing_text(missing: list[str], typos: Mapping[str, str]) -> str:
    verb = "is" if len(missing) == 1 else "are"
    sentence = f"{join_names(missing)} {verb} not set."
    likely = {typo: name for typo, name in typos.items() if name in (*missing, APP_TOKEN)}
    if likely:
        return f"{sentence} {_typo_question(likely)}"
    if "SLACK_SIGNING_SECRET" in missing:
        sentence += f" For Socket Mode set {APP_TOKEN} instead of SLACK_SIGNING_SECRET."
    return f"{sentence} See docs/quickstart.md, The bot."


def _typo_question(typos: Mapping[str, str]) -> str:
    return " ".join(f"{name} is set: did you mean {meant}?" for name, meant in typos.items())


def _check_values(settings: Settings) -> None:
    if not settings.slack_bot_token.startswith("xoxb-"):
        raise SettingsError("SLACK_BOT_TOKEN is not a bot token: it must begin with xoxb-.")
    if settings.slack_app_token and not settings.slack_app_token.startswith("xapp-"):
        raise SettingsError("SLACK_APP_TOKEN is not an app-level token: it must begin with xapp-.")
    for name in ("slack_api_url", "hitl_redis_url"):
        schemes = ("http", "https") if name == "slack_api_url" else ("redis", "rediss", "unix")
        if _scheme(str(getattr(settings, name))) not in schemes:
            raise SettingsError(f"{name.upper()} must be a URL like {schemes[0]}://….")
    if not settings.slack_api_url.endswith("/"):
        raise SettingsError("SLACK_API_URL must end in a slash, like https://slack.com/api/.")
    if not settings.hitl_channel.startswith(("#", "C", "G", "D")):
        raise SettingsError("HITL_CHANNEL must be #a-channel or a channel's id, like C0123ABCD.")
    if settings.hitl_log_level.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise SettingsError("HITL_LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR.")


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


def _click_seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,2}(\.[0-9]+)?", text) or not 1 <= float(text) <= 60:
        raise SettingsError(f"HITL_CLICK_SECONDS is {text!r}; it must be a number from 1 to 60.")
    return float(text)


def _port(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > 65535:
        raise SettingsError(f"HITL_PORT is {text!r}; it must be a number from 0 to 65535.")
    return int(text)
