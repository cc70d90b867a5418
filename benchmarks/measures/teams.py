"""Teams: clicks and a card. Each click is a signed activity, and each answer a card."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from benchmarks.measures import click_latency, click_rate, drawing
from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from benchmarks.support.chat import Chat, Click
from benchmarks.support.http_client import post_request
from teams_sandbox.sandbox import CLIENT_SECRET
from teams_sandbox.workspace import CLIENT_ID, TENANT, ids


async def measure(amount: Amount) -> list[Figure]:
    return [
        *await click_latency.measure(amount, TEAMS),
        await click_rate.measure_one_bot(amount, TEAMS),
        drawing.measure_teams_card(amount),
    ]


def settings(url: str) -> dict[str, str]:
    return {
        "TEAMS_CLIENT_ID": CLIENT_ID,
        "TEAMS_CLIENT_SECRET": CLIENT_SECRET,
        "TEAMS_TENANT_ID": TENANT,
        "TEAMS_CLOUD_URL": url,
        "HITL_CHANNEL": f"teams:{ids.APPROVALS}",
    }


def make_clicks(messages: Iterable[dict[str, Any]]) -> list[Click]:
    """One click per posted card. Like Teams' tokens, the one that they all have is valid for an hour."""
    return [Click(one["review_id"], _request(one["activity"], one["token"])) for one in messages]


def _request(activity: dict[str, Any], token: str) -> bytes:
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json; charset=utf-8",
    }
    return post_request("/api/messages", headers, json.dumps(activity).encode())


TEAMS = Chat(
    label="Teams: ",
    program="benchmarks.programs.teams",
    empty_app="benchmarks.programs.empty_teams",
    settings=settings,
    make_clicks=make_clicks,
)
