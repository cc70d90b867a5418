"""A sandbox, and a bot that calls it with httpx."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from teams_sandbox.login import CONNECTOR, GRAPH
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox

CARD: dict[str, Any] = {
    "type": "AdaptiveCard",
    "version": "1.5",
    "body": [{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": "Hello"}]}],
}


class Rest:
    """The bot's side of the Connector and of Graph: paths in, answers out."""

    def __init__(self, sandbox: Sandbox, http: httpx.AsyncClient) -> None:
        self.sandbox, self.http = sandbox, http
        self.token = sandbox.login.entra_token(CONNECTOR)
        self.graph_token = sandbox.login.entra_token(GRAPH)

    async def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        url = f"{self.sandbox.service_url}v3/{path}"
        headers = {"Authorization": f"Bearer {self.token}"}
        return await self.http.request(method, url, json=body, headers=headers)

    async def post(self, conversation: str, activity: Any = None) -> httpx.Response:
        path = f"conversations/{quote(conversation, safe='')}/activities"
        return await self.call("POST", path, activity or card_activity())

    async def put(self, conversation: str, activity_id: str, activity: Any) -> httpx.Response:
        path = f"conversations/{quote(conversation, safe='')}/activities/{quote(activity_id)}"
        return await self.call("PUT", path, activity)

    async def delete(self, conversation: str, activity_id: str) -> httpx.Response:
        path = f"conversations/{quote(conversation, safe='')}/activities/{quote(activity_id)}"
        return await self.call("DELETE", path)

    async def get(self, path: str) -> httpx.Response:
        return await self.call("GET", path)

    async def graph(self, path: str, **headers: str) -> httpx.Response:
        url = path if path.startswith("http") else f"{self.sandbox.graph_url}/{path}"
        more = {"Authorization": f"Bearer {self.graph_token}", **headers}
        return await self.http.get(url, headers=more)


def card_activity(text: str = "Hello") -> dict[str, Any]:
    inlines = [{"type": "TextRun", "text": text}]
    content = {**CARD, "body": [{"type": "RichTextBlock", "inlines": inlines}]}
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": content}]}


def code_of(response: httpx.Response) -> tuple[int, str]:
    """The status and the code of an error."""
    return response.status_code, response.json()["error"]["code"]


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with running_sandbox() as running:
        yield running


@pytest.fixture
async def rest(sandbox: Sandbox) -> AsyncIterator[Rest]:
    async with httpx.AsyncClient() as http:
        yield Rest(sandbox, http)
