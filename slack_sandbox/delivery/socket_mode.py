"""Socket Mode: payloads go to sockets that the app opened, instead of requests to the app.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Any, Literal
from uuid import uuid4

from aiohttp import WSMsgType, web

from ..errors import SlackError
from ..json_checks import Json, is_object
from ..workspace import App

MAX_SOCKETS = 10  # sockets of one app at a time
PING_INTERVAL = 10.0  # seconds
LIFETIME = 18060  # seconds; from Slack's hello
TICKET_LIFETIME = 30.0  # seconds; Slack says only that its address is temporary
HOST = "applink-sandbox"
#: Types of envelopes that an app may answer with a payload.
ANSWERABLE = frozenset({"view_submission", "block_suggestion"})

#: The type of an envelope: a click or submission, a slash command, or an event.
EnvelopeKind = Literal["interactive", "slash_commands", "events_api"]
Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]


class Connection:
    """One socket. A test may set `frozen`: then the socket stays open, but nothing is sent or received any
    more, as on a dead network connection."""

    def __init__(self, ws: web.WebSocketResponse, request: web.Request) -> None:
        self.id = secrets.token_hex(4)
        self.frozen = False
        self._ws, self._request = ws, request
        self._pending_answers: dict[str, asyncio.Future[Json | None]] = {}

    async def send_payload(
        self,
        kind: EnvelopeKind,
        payload: Json,
        timeout: float,
        accepts: bool,
        more: Json | None = None,
    ) -> Json | None:
        """Returns the answer to this payload, `{}` if the app only acknowledged it, or None if nothing came
        in time. `accepts`: whether the app may answer with a payload.
        """
        envelope_id = str(uuid4())
        future = self._pending_answers[envelope_id] = asyncio.get_running_loop().create_future()
        envelope = {"envelope_id": envelope_id, "type": kind, "payload": payload, **(more or {})}
        try:
            async with asyncio.timeout(timeout):
                await self.send({**envelope, "accepts_response_payload": accepts})
                answer = await future
        except (TimeoutError, ConnectionError):
            return None
        finally:
            del self._pending_answers[envelope_id]
        return answer if accepts or answer is None else {}

    async def disconnect(self, reason: Reason) -> None:
        """Sends Slack's warning that it will close this socket. It stays open until `close`."""
        await self.send({"type": "disconnect", "reason": reason, "debug_info": {"host": HOST}})

    async def close(self) -> None:
        """Closes it with a close frame."""
        await self._ws.close()

    def abort(self) -> None:
        """Ends the connection without a close frame, as when the network breaks."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def send(self, frame: Json) -> None:
        if not self.frozen:
            await self._ws.send_str(json.dumps(frame))

    async def serve(self) -> None:
        """Runs until one side closes it."""
        pinging = asyncio.create_task(self._ping())
        try:
            async for message in self._ws:
                if self.frozen:
                    continue
                if message.type is WSMsgType.PING:
                    await self._ws.pong(message.data)
                elif message.type is WSMsgType.TEXT:
                    self._handle_receipt(message.data)
        except ConnectionError:
            pass
        finally:
            pinging.cancel()
            for future in self._pending_answers.values():
                if not future.done():
                    future.set_result(None)

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(PING_INTERVAL)
            if not self.frozen and not self._ws.closed:
                await self._ws.ping(f"Ping from {HOST}".encode())

    def _handle_receipt(self, text: str) -> None:
        """An acknowledgement counts only for an envelope of this socket, and only while the sender waits for
        it.
        """
        try:
            frame: Any = json.loads(text)
        except ValueError:
            return
        future = (
            self._pending_answers.get(str(frame.get("envelope_id"))) if is_object(frame) else None
        )
        if future is not None and not future.done():
            payload = frame.get("payload")
            future.set_result(payload if is_object(payload) else {})


class SocketMode:
    """`enabled` is the switch in the app's settings; while it is on, nothing is sent to the app's address.
    `connections` are the open sockets, the oldest first; they take turns to get the payloads.
    `scopes` are those of the app-level token. `sends_hello` False: sockets open, but no hello is sent."""

    def __init__(self, app: App, url: Callable[[], str], now: Callable[[], float]) -> None:
        self.enabled, self.sends_hello = False, True
        self.connections: list[Connection] = []
        self.scopes = frozenset({"connections:write"})
        self._app, self._url, self._now = app, url, now
        self._tickets: dict[str, float] = {}
        self._pick_count = 0

    def open(self) -> Json:
        """`apps.connections.open`: an address for one connection, valid for a short time.
        https://docs.slack.dev/reference/methods/apps.connections.open"""
        if "connections:write" not in self.scopes:
            provided = ",".join(sorted(self.scopes))
            raise SlackError("missing_scope", needed="connections:write", provided=provided)
        ticket = secrets.token_hex(16)
        self._tickets[ticket] = self._now() + TICKET_LIFETIME
        host = self._url().replace("http", "ws", 1)
        return {"url": f"{host}/link/?ticket={ticket}&app_id={self._app.app_id}"}

    def next_connection(self) -> Connection | None:
        """The socket for the next payload; None if no socket is open."""
        self._pick_count += 1
        return (
            self.connections[self._pick_count % len(self.connections)] if self.connections else None
        )

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """`GET /link/`: one socket, until it ends."""
        if self._tickets.pop(request.query.get("ticket", ""), 0.0) < self._now():
            raise web.HTTPForbidden(text="this ticket is unknown, spent or too old")
        ws = web.WebSocketResponse(autoping=False, timeout=1.0)
        await ws.prepare(request)
        connection = Connection(ws, request)
        if not self.enabled or len(self.connections) >= MAX_SOCKETS:
            await connection.disconnect("too_many_websockets" if self.enabled else "link_disabled")
            await connection.close()
            return ws
        self.connections.append(connection)
        try:
            if self.sends_hello:
                await connection.send(self._hello())
            await connection.serve()
        finally:
            self.connections.remove(connection)
        return ws

    async def turn_off(self) -> None:
        """Turns Socket Mode off, as in the app's settings."""
        self.enabled = False
        for connection in list(self.connections):
            await connection.disconnect("link_disabled")
            await connection.close()

    async def end(self) -> None:
        """Closes all sockets."""
        await asyncio.gather(*(connection.close() for connection in self.connections))

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "connection_info": {"app_id": self._app.app_id},
            "num_connections": len(self.connections),
            "debug_info": {
                "host": HOST,
                "build_number": 1,
                "approximate_connection_time": LIFETIME,
            },
        }
