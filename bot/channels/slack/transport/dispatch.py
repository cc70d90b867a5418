"""What Slack sends, over HTTP or a socket, on its way through Bolt to our listeners."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse


async def dispatch(app: AsyncApp, payload: dict[str, Any]) -> BoltResponse:
    """`payload` has passed `shape`, and it is known that Slack sent it.

    Bolt would check the signature and parse once more; in its mode for sockets it takes what was parsed.
    """
    return await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=payload))
