"""manifest.yml: valid for Slack, and asking for exactly what the bot's calls need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[1]

# The bot scopes of each Web API method that the bot calls, from the "Facts" of the method's page
# under https://docs.slack.dev/reference/methods. Of those for channels, private channels and
# direct messages, the first two: a review is never posted to a direct message.
SCOPES_OF_METHOD: dict[str, set[str]] = {
    "auth.test": set(),
    "chat.delete": {"chat:write"},
    "chat.postEphemeral": {"chat:write"},
    "chat.postMessage": {"chat:write"},
    "chat.update": {"chat:write"},
    "conversations.history": {"channels:history", "groups:history"},
    "conversations.info": {"channels:read", "groups:read"},
    "conversations.list": {"channels:read", "groups:read"},
    "conversations.members": {"channels:read", "groups:read"},
    "users.info": {"users:read"},
    "views.open": set(),
    "views.update": set(),
}


@pytest.fixture
def manifest() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "manifest.yml").read_text())


def test_slack_would_accept_the_manifest(manifest: dict[str, Any]):
    """It is valid by Slack's own schema (github.com/slackapi/manifest-schema, 2.0.0)."""
    schema = json.loads((ROOT / "tests/data/slack-manifest-2.0.0.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)

    errors = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(manifest)]

    assert errors == []


def test_the_scopes_are_exactly_those_of_the_methods(manifest: dict[str, Any]):
    """Nothing is missing at run time, and a workspace admin is asked for nothing unused."""
    scopes = manifest["oauth_config"]["scopes"]

    assert list(scopes) == ["bot"]
    assert sorted(scopes["bot"]) == sorted(set().union(*SCOPES_OF_METHOD.values()))


def test_clicks_arrive_where_the_bot_listens(manifest: dict[str, Any]):
    """Clicks come over HTTP, to the one path of the bot; the host is left for the reader."""
    assert manifest["settings"]["interactivity"] == {
        "is_enabled": True,
        "request_url": "https://YOUR-HOST/slack/events",
    }
    assert manifest["settings"]["socket_mode_enabled"] is False
