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

from benchmarks.chat import Chat, Click
from benchmarks.http_client import post_request
from benchmarks.programs.slack import CHANNEL, PERSON, TEAM

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


def sign(body: bytes) -> bytes:
    timestamp = str(int(time.time()))
    signature = SignatureVerifier(SIGNING_SECRET).generate_signature(timestamp=timestamp, body=body)
    headers = {
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "Content-Type": "application/x-www-form-urlencoded",
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
