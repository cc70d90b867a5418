"""The endpoint for Teams' requests, on its own server, and a request as Teams sends it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import aiohttp

from bot.channels.teams.transport import (
    Activity,
    Answer,
    BoundedClient,
    Guard,
    SigningKeys,
    TeamsEndpoint,
)
from bot.health import Health
from bot.web import make_app, open_server
from tests.support.teams.tokens import (
    CLIENT_ID,
    SERVICE_URL,
    TENANT,
    KeyServer,
)

OTHER = "11111111-2222-3333-4444-555555555555"


ALICE = "0a5b7d20-93f4-4f0c-a4d7-0f5f3ff3d1f3"


@dataclass
class Bot:
    """An endpoint that notes what it handles."""

    url: str
    session: aiohttp.ClientSession
    login: KeyServer
    health: Health
    handled: list[Activity]

    async def send(
        self, token: str | None = None, activity: Any = None, headers: Any = None
    ) -> int:
        """The status. A good token and a good activity, unless given."""
        headers = headers if headers is not None else bearer(token or self.login.token())
        is_raw = isinstance(activity, bytes | BytesIO)
        body = activity if is_raw else json.dumps(activity or press()).encode()
        async with self.session.post(self.url, data=body, headers=headers) as answer:
            return answer.status


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def press(**changed: Any) -> dict[str, Any]:
    """An invoke of a button as Teams sends it; a changed field that is None is left out."""
    good = {
        "type": "invoke",
        "id": "f:8e2f",
        "name": "adaptiveCard/action",
        "channelId": "msteams",
        "serviceUrl": SERVICE_URL,
        "from": {"id": "29:1aA", "aadObjectId": ALICE, "name": "Alice"},
        "recipient": {"id": f"28:{CLIENT_ID}", "name": "approvals"},
        "conversation": {"id": "19:x@thread.tacv2;messageid=1", "tenantId": TENANT},
        "channelData": {"tenant": {"id": TENANT}},
        "value": {"action": {"type": "Action.Execute", "data": {"hitl": "press"}}},
    }
    return {name: value for name, value in (good | changed).items() if value is not None}


def sender(**changed: Any) -> dict[str, Any]:
    account = {"id": "29:1aA", "aadObjectId": ALICE, "name": "Alice"} | changed
    return press(**{"from": {name: one for name, one in account.items() if one is not None}})


@asynccontextmanager
async def running(
    login: KeyServer,
    *,
    warm: bool = True,
    on_sent: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[Bot]:
    handled: list[Activity] = []

    async def handle(activity: Activity) -> Answer:
        handled.append(activity)
        return Answer({"statusCode": 200}, on_sent=on_sent)

    async def ready() -> dict[str, object]:
        return {}

    health = Health()
    async with BoundedClient() as client, aiohttp.ClientSession() as session:
        keys = SigningKeys(client, login.url, health)
        if warm:
            await keys.find("k1")
        app = make_app(ready, asyncio.Event())
        TeamsEndpoint(Guard(CLIENT_ID, TENANT), keys, handle).add_to(app, "/api/messages")
        async with open_server(app, "127.0.0.1", 0) as url:
            yield Bot(f"{url}/api/messages", session, login, health, handled)
