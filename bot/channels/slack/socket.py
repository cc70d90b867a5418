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

from bot.channels.slack.arriving import answer_to
from bot.channels.slack.shape import WrongShape, checked
from hitl_core.errors import told
from hitl_core.failpoints import failpoint

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pace:
    """How long things may take, in seconds. Only tests need others."""

    greeting: float = 10.0
    """From asking for an address to Slack's hello."""
    heartbeat: float = 10.0
    """Between pings. A socket that leaves one without an answer for half as long is dead."""
    again: float = 0.5
    """Before another try to connect; doubled for each that follows."""
    longest: float = 30.0
    """The longest wait between tries. A socket that stood for longer was a good one."""
    leaving: float = 15.0
    """How long a socket is still read that Slack is about to end."""
    finish: float = 3.0
    """What was begun gets this long before its socket is closed: Slack waits no longer."""


class Socket:
    """Each payload is handled in a task of its own, committed, and answered over the socket it came by."""

    def __init__(self, app: AsyncApp, ws: aiohttp.ClientWebSocketResponse, pace: Pace) -> None:
        self._app, self._ws, self._pace = app, ws, pace
        self._begun: set[asyncio.Task[None]] = set()
        self._until = asyncio.timeout(None)
        self.connected = False
        self.heard = asyncio.Event()
        """Slack said hello, or that there will be none."""
        self.leaving = asyncio.Event()
        """Another one must take its place, because of `why`."""
        self.why = ""

    async def run(self) -> None:
        """Until the connection ends, or some time after Slack said that it will."""
        try:
            with suppress(TimeoutError):
                async with self._until:
                    async for message in self._ws:
                        if message.type is aiohttp.WSMsgType.TEXT:
                            self._hear(message.data)
        finally:
            self.connected = False
            self._leave("the connection was lost")
            await self.finish()

    async def finish(self) -> None:
        """What was begun is answered, as long as its time lasts; then the socket is closed. Slack can't be
        asked to send no more: what it sends in that very instant fails where the person sees it.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pace.finish):
                while self._begun:
                    await asyncio.wait(self._begun)
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._ws.close()
        for task in self._begun:
            task.cancel()

    def _hear(self, text: str) -> None:
        try:
            match json.loads(text):
                case {"type": "hello", **more}:
                    log.info("connected; Slack counts %s such sockets", more.get("num_connections"))
                    self.connected = True
                    self.heard.set()
                case {"type": "disconnect", "reason": str(reason)}:
                    self._leave(f"Slack said {reason}")
                    rest = self._pace.leaving if self.connected else 0.0
                    if self._until.when() is None:
                        self._until.reschedule(asyncio.get_running_loop().time() + rest)
                case {"envelope_id": str(envelope_id), "payload": payload}:
                    task = asyncio.create_task(self._handle(envelope_id, payload))
                    self._begun.add(task)
                    task.add_done_callback(self._begun.discard)
                case _:
                    log.info("Slack sent a frame of an unknown kind")
        except (ValueError, RecursionError):
            log.error("a frame from Slack is no JSON")

    def _leave(self, why: str) -> None:
        self.why = self.why or why
        self.heard.set()
        self.leaving.set()

    async def _handle(self, envelope_id: str, payload: object) -> None:
        """What Bolt could not do gets no receipt: the person sees a failure, as with an HTTP status."""
        try:
            answer = await answer_to(self._app, checked(payload))
            if answer.status != 200:
                log.warning("a payload got no receipt: Bolt answered %s", answer.status)
                return
            said = {"payload": json.loads(answer.body)} if answer.body else {}
            await self._ws.send_str(json.dumps({"envelope_id": envelope_id, **said}))
            await failpoint("bot.after_ack")
        except WrongShape as wrong:
            log.error("a payload got no receipt: %s", wrong)
        except ConnectionError:  # whatever was decided is stored; the person may press again
            log.warning("a receipt came too late: the socket was gone")
        except Exception as error:
            log.error("a payload could not be handled: %s", told(error))
