"""One WebSocket of Socket Mode, from Slack's hello to the last receipt.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass

import aiohttp
from slack_bolt.async_app import AsyncApp

from hitl_core.errors import safe_message
from hitl_core.failpoints import failpoint

from .dispatch import dispatch
from .payload import InvalidPayload, validate_payload

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SocketTimeouts:
    """How long things may take, in seconds. Only tests need others."""

    hello_timeout: float = 10.0
    """From asking for an address to Slack's hello."""
    heartbeat_interval: float = 10.0
    """Between pings. A socket that leaves one without an answer for half as long is dead."""
    first_retry_delay: float = 0.5
    """Before another try to connect; doubled for each that follows."""
    max_retry_delay: float = 30.0
    """The longest wait between tries. A socket that stood for longer was a good one."""
    disconnect_timeout: float = 15.0
    """How long a socket is still read that Slack is about to end."""
    drain_timeout: float = 3.0
    """What was begun gets this long before its socket is closed: Slack waits no longer."""


class SocketConnection:
    """Each payload is handled in a task of its own, committed, and answered over the socket it came by."""

    def __init__(
        self, app: AsyncApp, ws: aiohttp.ClientWebSocketResponse, timeouts: SocketTimeouts
    ) -> None:
        self._app, self._ws, self._timeouts = app, ws, timeouts
        self._tasks: set[asyncio.Task[None]] = set()
        self._timeout = asyncio.timeout(None)
        self.connected = False
        self.hello_event = asyncio.Event()
        """Slack said hello, or that there will be none."""
        self.replace_event = asyncio.Event()
        """Another one must take its place, because of `why`."""
        self.close_reason = ""

    async def run(self) -> None:
        """Until the connection ends, or some time after Slack said that it will."""
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
        """What was begun is answered, as long as its time lasts; then the socket is closed. Slack can't be
        asked to send no more: what it sends in that very instant fails where the person sees it.
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
            match json.loads(text):
                case {"type": "hello", **more}:
                    log.info("connected; Slack counts %s such sockets", more.get("num_connections"))
                    self.connected = True
                    self.hello_event.set()
                case {"type": "disconnect", "reason": str(reason)}:
                    self._mark_leaving(f"Slack said {reason}")
                    timeout = self._timeouts.disconnect_timeout if self.connected else 0.0
                    if self._timeout.when() is None:
                        self._timeout.reschedule(asyncio.get_running_loop().time() + timeout)
                case {"envelope_id": str(envelope_id), "payload": payload}:
                    task = asyncio.create_task(self._handle_payload(envelope_id, payload))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                case _:
                    log.info("Slack sent a frame of an unknown kind")
        except (ValueError, RecursionError):
            log.error("a frame from Slack is no JSON")

    def _mark_leaving(self, why: str) -> None:
        self.close_reason = self.close_reason or why
        self.hello_event.set()
        self.replace_event.set()

    async def _handle_payload(self, envelope_id: str, payload: object) -> None:
        """What Bolt could not do gets no receipt: the person sees a failure, as with an HTTP status."""
        try:
            answer = await dispatch(self._app, validate_payload(payload))
            if answer.status != 200:
                log.warning("a payload got no receipt: Bolt answered %s", answer.status)
                return
            reply = {"payload": json.loads(answer.body)} if answer.body else {}
            await self._ws.send_str(json.dumps({"envelope_id": envelope_id, **reply}))
            await failpoint("bot.after_ack")
        except InvalidPayload as wrong:
            log.error("a payload got no receipt: %s", wrong)
        except ConnectionError:  # whatever was decided is stored; the person may press again
            log.warning("a receipt came too late: the socket was gone")
        except Exception as error:
            log.error("a payload could not be handled: %s", safe_message(error))
