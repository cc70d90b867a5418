"""Presses a button: sends the request that Slack sends to a bot, and records what the person sees."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from benchmarks.chaos.journal import Journal
from benchmarks.chaos.people.board import Element
from benchmarks.chaos.plan import STRANGER, STRANGERS_TEAM
from slack_sandbox.delivery import sign
from slack_sandbox.sandbox import SIGNING_SECRET, Sandbox
from slack_sandbox.workspace import Message

#: How long Slack waits for the bot, in seconds.
SLACK_WAITS = 3.0
#: How long a bot gets no presses after it did not answer one, in seconds.
REST = 1.0


@dataclass(frozen=True)
class Answer:
    """`status` is None if no answer came in time. `notice` is the private message to the person, or ""."""

    status: int | None
    notice: str

    @property
    def is_acknowledged(self) -> bool:
        """The person saw no failure, and no message that the press didn't count."""
        return self.status == 200 and not self.notice

    @property
    def may_press_again(self) -> bool:
        return self.status != 200 or "ress again" in self.notice or "ry again" in self.notice


class Clicker:
    """Writes every press to the journal before it is sent, and again with its answer."""

    def __init__(
        self,
        sandbox: Sandbox,
        bots: Sequence[str],
        journal: Journal,
        session: aiohttp.ClientSession,
    ) -> None:
        self._sandbox, self._bots, self._journal, self._session = sandbox, bots, journal, session
        self._numbers, self._notices = itertools.count(1), dict[int, list[str]]()
        self._down: dict[str, float] = {}
        self.url = ""

    async def notice(self, request: web.Request) -> web.Response:
        """The handler of the response URLs, to which a bot sends private messages about one click."""
        body = json.loads(await request.text())
        number = int(request.match_info["number"])
        self._notices.setdefault(number, []).append(str(body.get("text", "")))
        return web.json_response({"ok": True})

    async def press(self, user: str, message: Message, element: Element, **known: Any) -> Answer:
        """`known` is added to the entry in the journal."""
        number, began = next(self._numbers), time.time()
        trigger = self._sandbox.triggers.issue(user)
        body = urlencode(
            {"payload": json.dumps(self._payload(user, message, element, trigger, number))}
        )
        entry = {"press": number, "user": user, "value": element.button["value"], **known}
        self._journal.write(at=began, **entry)
        status = await self._send(number, body)
        fallback = self._ephemerals(user, message.channel, began)
        answer = Answer(status, " ".join([*self._notices.pop(number, ()), *fallback]))
        self._journal.write(
            at=time.time(),
            **entry,
            seconds=time.time() - began,
            status=status,
            notice=answer.notice,
        )
        return answer

    def _payload(
        self, user: str, message: Message, element: Element, trigger: str, number: int
    ) -> dict[str, Any]:
        workspace, app = self._sandbox.workspace, self._sandbox.app
        team = STRANGERS_TEAM if user == STRANGER else workspace.team_id
        channel = workspace.channels[message.channel]
        return {
            "type": "block_actions",
            "team": {"id": workspace.team_id, "domain": workspace.domain},
            "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": team},
            "api_app_id": app.app_id,
            "token": app.verification_token,
            "enterprise": None,
            "is_enterprise_install": False,
            "container": {
                "type": "message", "message_ts": message.ts, "channel_id": channel.id, "is_ephemeral": False,
            },
            "channel": {"id": channel.id, "name": channel.name},
            "trigger_id": trigger,
            "response_url": f"{self.url}/notices/{number}",
            "state": {"values": {}},
            "message": {"type": "message", "user": message.user, "ts": message.ts, "text": message.text},
            "actions": [
                {
                    **element.button, "type": "button", "block_id": element.block_id,
                    "action_ts": workspace.next_ts(),
                }
            ],
        }  # fmt: skip

    async def _send(self, number: int, body: str) -> int | None:
        """Sends to a bot that answered recently, as a load balancer does. Returns the status; None if no
        answer came.
        """
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(SIGNING_SECRET, timestamp, body),
        }
        now = time.monotonic()
        up = [bot for bot in self._bots if self._down.get(bot, 0.0) < now] or self._bots
        url = up[number % len(up)]
        try:
            async with asyncio.timeout(SLACK_WAITS):
                async with self._session.post(url, data=body, headers=headers) as response:
                    await response.read()
                    return response.status
        except (TimeoutError, aiohttp.ClientError):
            self._down[url] = time.monotonic() + REST
            return None

    def _ephemerals(self, user: str, channel: str, since: float) -> list[str]:
        """The bot's private messages to this person in the channel since then."""
        notices = self._sandbox.workspace.ephemerals.values()
        return [
            one.text
            for one in itertools.takewhile(lambda one: float(one.ts) >= since, reversed(notices))
            if one.user == user and one.channel == channel
        ]


@asynccontextmanager
async def open_clicker(
    sandbox: Sandbox, bots: Sequence[str], journal: Journal
) -> AsyncGenerator[Clicker, None]:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        clicker = Clicker(sandbox, bots, journal, session)
        app = web.Application()
        app.router.add_post("/notices/{number}", clicker.notice)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        clicker.url = f"http://{host}:{port}"
        try:
            yield clicker
        finally:
            await runner.cleanup()
