"""Slack: the bot's settings, and a press of Approve: the exact bytes of the request that Slack sends.

https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from slack_sdk.signature import SignatureVerifier

from benchmarks.programs.slack import CHANNEL, PERSON, TEAM
from benchmarks.support.chat import Chat, Click
from benchmarks.support.http_client import post_request

SIGNING_SECRET = "bench"


def settings(url: str) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": "xoxb-bench",
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SLACK_API_URL": f"{url}api/",
        "HITL_CHANNEL": "#agent-approvals",
    }


def make_clicks(messages: Iterable[dict[str, Any]]) -> list[Click]:
    """One click per posted card. Like Slack's signatures, these are valid for five minutes."""
    return [_click(number, message) for number, message in enumerate(messages)]


def _click(number: int, message: dict[str, Any]) -> Click:
    button, block = next(
        (element, block)
        for block in message["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
        if element["action_id"] == "approve"
    )
    action = {**button, "block_id": block["block_id"], "action_ts": message["ts"]}
    payload = {
        "type": "block_actions",
        "team": {"id": TEAM, "domain": "bench"},
        "user": {"id": PERSON, "username": "alice", "name": "alice", "team_id": TEAM},
        "api_app_id": "A0BENCH",
        "token": "bench",
        "container": {"type": "message", "message_ts": message["ts"], "channel_id": CHANNEL},
        "trigger_id": f"trigger-{number}-{message['ts']}",
        "channel": {"id": CHANNEL, "name": "agent-approvals"},
        "message": {"type": "message", "user": "U0APPROVER", "bot_id": "B0APPROVER", **message},
        "state": {"values": {}},
        "response_url": "http://127.0.0.1:9/never",
        "actions": [action],
    }
    body = urlencode({"payload": json.dumps(payload)}).encode()
    review_id = str(message["metadata"]["event_payload"]["review_id"])
    return Click(review_id, sign(body))


def make_command() -> bytes:
    """`/approvals` of a person who may decide.

    https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    fields = {
        "token": "bench",
        "team_id": TEAM,
        "team_domain": "bench",
        "channel_id": CHANNEL,
        "channel_name": "agent-approvals",
        "user_id": PERSON,
        "user_name": "alice",
        "command": "/approvals",
        "text": "",
        "api_app_id": "A0BENCH",
        "is_enterprise_install": "false",
        "response_url": "http://127.0.0.1:9/never",
        "trigger_id": f"trigger-{time.time_ns()}",
    }
    return sign(urlencode(fields).encode())


def open_home() -> bytes:
    """The same person opens the app's Home (https://docs.slack.dev/reference/events/app_home_opened)."""
    event = {
        "type": "app_home_opened",
        "user": PERSON,
        "channel": "D0ALICE",
        "tab": "home",
        "event_ts": f"{time.time():.6f}",
    }
    request = {
        "token": "bench",
        "team_id": TEAM,
        "api_app_id": "A0BENCH",
        "event": event,
        "type": "event_callback",
        "event_id": f"Ev{time.time_ns()}",
        "event_time": int(time.time()),
        "authorizations": [],
    }
    return sign(json.dumps(request).encode(), "application/json")


def sign(body: bytes, content_type: str = "application/x-www-form-urlencoded") -> bytes:
    timestamp = str(int(time.time()))
    signature = SignatureVerifier(SIGNING_SECRET).generate_signature(timestamp=timestamp, body=body)
    headers = {
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": str(signature),
    }
    return post_request("/slack/events", headers, body)


SLACK = Chat(
    label="",
    program="benchmarks.programs.slack",
    empty_app="benchmarks.programs.empty_bolt",
    settings=settings,
    make_clicks=make_clicks,
)
