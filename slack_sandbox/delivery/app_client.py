"""Sends payloads to the app: as a signed request to its address, or in an envelope over one of
its sockets.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

import aiohttp

from ..json_checks import Json
from ..workspace import App, Workspace
from .payloads import sign
from .socket_mode import ANSWERABLE, EnvelopeKind, SocketMode

FORM, JSON = "application/x-www-form-urlencoded", "application/json"

#: Why there is no answer: the values of the header X-Slack-Retry-Reason.
NoAnswer = Literal["http_timeout", "connection_failed"]


@dataclass(frozen=True)
class Answer:
    status: int
    body: str
    may_retry: bool = True


class AppClient:
    """`bot_url` is read at each delivery, because a bot starts after the sandbox. `deliveries` lists what
    was sent: at, body, headers, and the app's status and answer (None if none came). Over Socket Mode,
    which has no headers, `socket` is the id of the connection. `answer_timeout` is in seconds."""

    def __init__(
        self,
        workspace: Workspace,
        app: App,
        sockets: SocketMode,
        bot_url: Callable[[], str | None],
        answer_timeout: float,
    ) -> None:
        self._workspace, self._app, self._sockets = workspace, app, sockets
        self._bot_url = bot_url
        self.answer_timeout = answer_timeout
        self.deliveries: list[Json] = []
        self.session: aiohttp.ClientSession | None = None

    async def send_interaction(self, payload: Json) -> Answer | NoAnswer:
        if self._sockets.enabled:
            accepts = payload["type"] in ANSWERABLE
            return await self._send_over_socket("interactive", payload, accepts)
        return await self._post(urlencode({"payload": json.dumps(payload)}), FORM)

    async def send_command(self, fields: dict[str, str]) -> Answer | NoAnswer:
        if self._sockets.enabled:
            return await self._send_over_socket("slash_commands", fields, True)
        return await self._post(urlencode(fields), FORM)

    async def send_event(self, body: Json, retry: int = 0, reason: str = "") -> Answer | NoAnswer:
        """`retry`: the number of the retry, 0 for the first attempt. `reason`: why there is a retry."""
        if self._sockets.enabled:
            more = {"retry_attempt": retry, "retry_reason": reason.removeprefix("http_")}
            return await self._send_over_socket("events_api", body, False, more)
        headers = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason}
        return await self._post(json.dumps(body), JSON, headers if retry else {})

    async def _post(
        self, body: str, kind: str, more: Mapping[str, str] | None = None
    ) -> Answer | NoAnswer:
        timestamp = str(int(self._workspace.now()))
        headers = {
            "Content-Type": kind,
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(self._app.signing_secret, timestamp, body),
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            **(more or {}),
        }
        delivery = self._record(body=body, headers=headers)
        url = self._bot_url()
        if url is None or self.session is None:
            return "connection_failed"
        try:
            async with asyncio.timeout(self.answer_timeout):
                async with self.session.post(url, data=body, headers=headers) as response:
                    may_retry = response.headers.get("X-Slack-No-Retry") != "1"
                    answer = Answer(response.status, await response.text(), may_retry)
        except TimeoutError:
            return "http_timeout"
        except aiohttp.ClientError:
            return "connection_failed"
        delivery |= {"status": answer.status, "answer": answer.body}
        return answer

    async def _send_over_socket(
        self, kind: EnvelopeKind, payload: Json, accepts: bool, more: Json | None = None
    ) -> Answer | NoAnswer:
        socket = self._sockets.next_connection()
        delivery = self._record(body=json.dumps(payload), headers={}, socket=socket and socket.id)
        if socket is None:
            return "connection_failed"
        reply = await socket.send_payload(kind, payload, self.answer_timeout, accepts, more)
        if reply is None:
            return "http_timeout"
        answer = Answer(200, json.dumps(reply))
        delivery |= {"status": answer.status, "answer": answer.body}
        return answer

    def _record(self, **fields: Any) -> Json:
        delivery = {"at": self._workspace.now(), **fields, "status": None, "answer": None}
        self.deliveries.append(delivery)
        return delivery
