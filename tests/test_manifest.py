"""The app manifests are valid for Slack, and ask for exactly the scopes and events that the bot needs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from slack_sandbox.workspace.acme import DEFAULT_COMMANDS, DEFAULT_EVENTS, DEFAULT_SCOPES, acme_app

ROOT = Path(__file__).parents[1]

# The bot scopes of each Web API method that the bot calls, from the "Facts" of the method's page
# under https://docs.slack.dev/reference/methods. Not those for direct messages of several people:
# a review is never posted to one.
SCOPES_OF_METHOD: dict[str, set[str]] = {
    "apps.connections.open": set(),  # an app-level token, which no manifest makes
    "auth.test": set(),
    "chat.delete": {"chat:write"},
    "chat.postEphemeral": {"chat:write"},
    "chat.postMessage": {"chat:write"},
    "chat.update": {"chat:write"},
    "conversations.history": {"channels:history", "groups:history", "im:history"},
    "conversations.info": {"channels:read", "groups:read", "im:read"},
    "conversations.list": {"channels:read", "groups:read"},
    "conversations.members": {"channels:read", "groups:read", "im:read"},
    "conversations.open": {"im:write"},
    "conversations.replies": {"channels:history", "groups:history", "im:history"},
    "files.completeUploadExternal": {"files:write"},
    "files.getUploadURLExternal": {"files:write"},
    "usergroups.list": {"usergroups:read"},
    "usergroups.users.list": {"usergroups:read"},
    "users.conversations": {"channels:read", "groups:read"},
    "users.info": {"users:read"},
    "views.open": set(),
    "views.publish": set(),
    "views.push": set(),
    "views.update": set(),
}
# The same for events, from https://docs.slack.dev/reference/events.
SCOPES_OF_EVENT: dict[str, set[str]] = {
    "app_home_opened": set(),
    "app_uninstalled": set(),
    "channel_archive": {"channels:read"},
    "channel_id_changed": {"groups:read"},
    "channel_rename": {"channels:read"},
    "group_archive": {"groups:read"},
    "group_rename": {"groups:read"},
    "member_joined_channel": {"channels:read", "groups:read"},
    "member_left_channel": {"channels:read", "groups:read"},
    "subteam_members_changed": {"usergroups:read"},
    "subteam_updated": {"usergroups:read"},
    "tokens_revoked": set(),
    "user_change": {"users:read"},
}
SLASH_COMMANDS = {"commands"}
WHERE = "https://YOUR-HOST/slack/events"


HTTP, SOCKET_MODE = "manifest.yml", "manifest.socket-mode.yml"
Manifest = dict[str, Any]


def read_yaml(name: str) -> Manifest:
    return yaml.safe_load((ROOT / name).read_text())


@pytest.fixture(params=[HTTP, SOCKET_MODE])
def manifest(request: pytest.FixtureRequest) -> Manifest:
    return read_yaml(request.param)


def test_slack_would_accept_the_manifest(manifest: Manifest):
    """It is valid by Slack's own schema (github.com/slackapi/manifest-schema, 2.0.0)."""
    schema = json.loads((ROOT / "tests/data/slack-manifest-2.0.0.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)

    errors = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(manifest)]

    assert errors == []


def test_the_scopes_are_exactly_those_of_methods_events_and_commands(manifest: Manifest):
    """Nothing is missing at run time, and a workspace admin is asked for nothing unused."""
    scopes = manifest["oauth_config"]["scopes"]

    assert list(scopes) == ["bot"]
    needed = SLASH_COMMANDS.union(*SCOPES_OF_METHOD.values(), *SCOPES_OF_EVENT.values())
    assert sorted(scopes["bot"]) == sorted(needed)


def test_every_call_of_the_bot_is_known_here():
    """So that a new one can't go without its scope."""
    families = {method.partition(".")[0] for method in SCOPES_OF_METHOD}
    named = re.compile(rf'"((?:{"|".join(families)})\.[a-zA-Z.]+)"')
    calls = {
        method
        for path in (ROOT / "bot").rglob("*.py")
        if "sandbox" not in path.parts
        for method in named.findall(path.read_text("utf-8"))
    }

    assert {"chat.postMessage", "users.info"} <= calls <= set(SCOPES_OF_METHOD)


def test_the_local_workspace_installs_the_same_app(manifest: Manifest):
    """So what works there has the scopes, events and commands that it has in Slack."""
    features, settings = manifest["features"], manifest["settings"]
    events = settings["event_subscriptions"]["bot_events"]

    assert set(manifest["oauth_config"]["scopes"]["bot"]) == DEFAULT_SCOPES
    assert set(events) == set(SCOPES_OF_EVENT) == DEFAULT_EVENTS
    assert {one["command"] for one in features["slash_commands"]} == DEFAULT_COMMANDS
    app = acme_app("xoxb", "secret")
    tabs = features["app_home"]
    assert tabs == {
        "home_tab_enabled": app.home_tab,
        "messages_tab_enabled": app.messages_tab,
        "messages_tab_read_only_enabled": app.messages_tab_read_only,
    }


def test_over_http_all_of_it_arrives_where_the_bot_listens():
    """At the one path of the bot; the host is left for the reader."""
    manifest = read_yaml(HTTP)
    settings = manifest["settings"]
    assert settings["interactivity"] == {"is_enabled": True, "request_url": WHERE}
    assert settings["event_subscriptions"]["request_url"] == WHERE
    assert [one["url"] for one in manifest["features"]["slash_commands"]] == [WHERE]
    assert settings["socket_mode_enabled"] is False


def test_with_socket_mode_nothing_has_to_reach_the_bot():
    """And in everything else the two are the same app."""
    over_http, by_socket = read_yaml(HTTP), read_yaml(SOCKET_MODE)
    assert by_socket["settings"]["interactivity"] == {"is_enabled": True}
    assert by_socket["settings"]["socket_mode_enabled"] is True
    for manifest in (over_http, by_socket):
        settings = manifest["settings"]
        del settings["interactivity"], settings["socket_mode_enabled"]
        settings["event_subscriptions"].pop("request_url", None)
        for command in manifest["features"]["slash_commands"]:
            command.pop("url", None)
    assert over_http == by_socket


def test_with_socket_mode_the_manifest_names_no_address():
    assert "://" not in json.dumps(read_yaml(SOCKET_MODE))


def test_an_admin_reads_why_each_scope_is_asked_for():
    """In the manifests and in docs/slack.md."""
    texts = (ROOT / "docs" / "slack.md").read_text("utf-8")
    scopes = read_yaml(HTTP)["oauth_config"]["scopes"]["bot"]
    assert re.findall(r"^\| `([a-z:]+)` \|", texts, re.MULTILINE) == scopes
    for name in (HTTP, SOCKET_MODE):
        text = (ROOT / name).read_text("utf-8")
        assert all(re.search(f"- {scope} # .+", text) for scope in scopes)
        assert all(re.search(f"- {event} # .+", text) for event in SCOPES_OF_EVENT)
