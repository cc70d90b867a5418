"""Passes a payload from Slack (HTTP or socket) through Bolt to our listeners."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse


async def dispatch(app: AsyncApp, payload: dict[str, Any]) -> BoltResponse:
    """`payload` was validated by `payload.py` and surely comes from Slack.

    Bolt would check the signature and parse again. In its socket mode it accepts a parsed payload.
    """
    return await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=payload))
