"""One WebSocket of Socket Mode, from Slack's hello until its last acknowledgement.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncApp

from hitl_core.errors import safe_message
from hitl_core.failpoints import failpoint

from .payload import InvalidPayload, dispatch, parse_json, validate_payload

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SocketTimeouts:
    """Time limits in seconds. Only tests change them."""

    hello_timeout: float = 10.0
    """From the request for a URL to Slack's hello."""
    heartbeat_interval: float = 10.0
    """Between pings. A socket without an answer for half this time is dead."""
    first_retry_delay: float = 0.5
    """Before the next attempt to connect; doubled each time."""
    max_retry_delay: float = 30.0
    """The longest wait between attempts. A socket that lived longer than this counts as good."""
    disconnect_timeout: float = 15.0
    """How long a socket is still read after Slack said that it will close it."""
    drain_timeout: float = 3.0
    """How long a closing socket waits for payloads in progress: Slack waits no longer."""


class SocketConnection:
    """Each payload is handled in its own task, and acknowledged over the same socket after the commit."""

    def __init__(
        self, app: AsyncApp, ws: aiohttp.ClientWebSocketResponse, timeouts: SocketTimeouts
    ) -> None:
        self._app, self._ws, self._timeouts = app, ws, timeouts
        self._tasks: set[asyncio.Task[None]] = set()
        self._timeout = asyncio.timeout(None)
        self.connected = False
        self.hello_event = asyncio.Event()
        """Set when Slack said hello, or when there will be no hello."""
        self.replace_event = asyncio.Event()
        """Set when another socket must replace this one, because of `close_reason`."""
        self.close_reason = ""
        self.is_off = False
        """Slack said that Socket Mode is off for this app."""

    async def run(self) -> None:
        """Reads until the connection ends, or until some time after Slack announced its end."""
        try:
            with suppress(TimeoutError):
                async with self._timeout:
                    async for message in self._ws:
                        if message.type is aiohttp.WSMsgType.TEXT:
                            self._handle_frame(message.data)
        finally:
            self.connected = False
            self._mark_leaving("the connection was lost")
            await self.drain()

    async def drain(self) -> None:
        """Waits for payloads in progress, within the time limit, then closes the socket. Slack can't be asked
        to stop sending: a payload that arrives then fails, and the person sees the failure.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timeouts.drain_timeout):
                while self._tasks:
                    await asyncio.wait(self._tasks)
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._ws.close()
        for task in self._tasks:
            task.cancel()

    def _handle_frame(self, text: str) -> None:
        try:
            frame: Any = parse_json(text)
            match frame:
                case {"type": "hello", **more}:
                    log.info(
                        "connected; Slack counts %s sockets of this app",
                        more.get("num_connections"),
                    )
                    self.connected = True
                    self.hello_event.set()
                case {"type": "disconnect", "reason": str(reason)}:
                    self.is_off = self.is_off or reason == "link_disabled"
                    self._mark_leaving(f"Slack said {reason}")
                    timeout = self._timeouts.disconnect_timeout if self.connected else 0.0
                    if self._timeout.when() is None:
                        self._timeout.reschedule(asyncio.get_running_loop().time() + timeout)
                case {"envelope_id": str(envelope_id), "payload": payload}:
                    task = asyncio.create_task(self._handle_payload(envelope_id, payload))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                case _:
                    log.info("Slack sent an unknown kind of frame")
        except InvalidPayload as wrong:
            log.error("a frame from Slack is dropped: %s", wrong)
        except (ValueError, RecursionError):
            log.error("a frame from Slack is not JSON")

    def _mark_leaving(self, why: str) -> None:
        self.close_reason = self.close_reason or why
        self.hello_event.set()
        self.replace_event.set()

    async def _handle_payload(self, envelope_id: str, payload: object) -> None:
        """Handles a payload. If it fails, it is not acknowledged, so that the person sees a failure, as with
        an HTTP error.
        """
        try:
            answer = await dispatch(self._app, validate_payload(payload))
            if answer.status != 200:
                log.warning("a payload was not acknowledged: Bolt answered %s", answer.status)
                return
            reply = {"payload": json.loads(answer.body)} if answer.body else {}
            await self._ws.send_str(json.dumps({"envelope_id": envelope_id, **reply}))
            await failpoint("bot.after_ack")
        except InvalidPayload as wrong:
            log.error("a payload was not acknowledged: %s", wrong)
        except ConnectionError:  # the decision is stored; the person may press again
            log.warning("an acknowledgement was too late: the socket was closed")
        except Exception as error:
            log.error("a payload could not be handled: %s", safe_message(error))
