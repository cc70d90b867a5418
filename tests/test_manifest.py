"""The manifests: valid for Slack, and asking for exactly what the bot's calls need."""

from __future__ import annotations

import json
import re
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
    "apps.connections.open": set(),  # an app-level token, which no manifest makes
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


HTTP, SOCKET_MODE = "manifest.yml", "manifest.socket-mode.yml"
Manifest = dict[str, Any]


def read(name: str) -> Manifest:
    return yaml.safe_load((ROOT / name).read_text())


@pytest.fixture(params=[HTTP, SOCKET_MODE])
def manifest(request: pytest.FixtureRequest) -> Manifest:
    return read(request.param)


def test_slack_would_accept_the_manifest(manifest: Manifest):
    """It is valid by Slack's own schema (github.com/slackapi/manifest-schema, 2.0.0)."""
    schema = json.loads((ROOT / "tests/data/slack-manifest-2.0.0.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)

    errors = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(manifest)]

    assert errors == []


def test_the_scopes_are_exactly_those_of_the_methods(manifest: Manifest):
    """Nothing is missing at run time, and a workspace admin is asked for nothing unused."""
    scopes = manifest["oauth_config"]["scopes"]

    assert list(scopes) == ["bot"]
    assert sorted(scopes["bot"]) == sorted(set().union(*SCOPES_OF_METHOD.values()))


def test_over_http_clicks_arrive_where_the_bot_listens():
    """At the one path of the bot; the host is left for the reader."""
    settings = read(HTTP)["settings"]
    assert settings["interactivity"] == {
        "is_enabled": True,
        "request_url": "https://YOUR-HOST/slack/events",
    }
    assert settings["socket_mode_enabled"] is False


def test_with_socket_mode_nothing_has_to_reach_the_bot():
    """And in everything else the two are the same app."""
    over_http, by_socket = read(HTTP), read(SOCKET_MODE)
    assert by_socket["settings"]["interactivity"] == {"is_enabled": True}
    assert by_socket["settings"]["socket_mode_enabled"] is True
    for settings in (over_http["settings"], by_socket["settings"]):
        del settings["interactivity"], settings["socket_mode_enabled"]
    assert over_http == by_socket


def test_an_admin_reads_why_each_scope_is_asked_for():
    """In the manifests and in docs/slack.md."""
    told = (ROOT / "docs" / "slack.md").read_text("utf-8")
    scopes = read(HTTP)["oauth_config"]["scopes"]["bot"]
    assert re.findall(r"^\| `([a-z]+:[a-z]+)` \|", told, re.MULTILINE) == scopes
    for name in (HTTP, SOCKET_MODE):
        text = (ROOT / name).read_text("utf-8")
        assert all(re.search(f"- {scope} # .+", text) for scope in scopes)
