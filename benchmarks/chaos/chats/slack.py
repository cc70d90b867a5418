"""The local Slack of a run. It sends the requests that Slack sends to a bot, or envelopes in Socket Mode."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from benchmarks.chaos.chats.balancer import Balancer
from benchmarks.chaos.chats.chat import Answer, Card, Element, OpenPort
from benchmarks.chaos.chats.slack_card import SlackCard
from benchmarks.chaos.names import names_of
from benchmarks.chaos.plan import Mode
from slack_sandbox.client import build_state, read_text
from slack_sandbox.delivery import sign
from slack_sandbox.sandbox import BOT_TOKEN, SIGNING_SECRET, Sandbox
from slack_sandbox.server import running_sandbox
from slack_sandbox.validation import UserError
from slack_sandbox.workspace import Channel, Message

#: How long Slack waits for the bot, in seconds.
SLACK_WAITS = 3.0
STRANGERS_TEAM = "T0OTHER"
METHODS = (None, "chat.update", "chat.postMessage")
NAMES = names_of("slack")


class SlackChat:
    def __init__(self, sandbox: Sandbox, mode: Mode, session: aiohttp.ClientSession) -> None:
        self._sandbox, self._session, self._own_url = sandbox, session, sandbox.url
        self._is_socket = sandbox.socket_mode.enabled = mode == "socket"
        self._bots = Balancer([])
        self._numbers, self._notices = itertools.count(1), dict[int, list[str]]()
        self.url = ""
        self._channels = sandbox.workspace.channels
        members = [*NAMES.members, sandbox.app.user_id]
        for number, id in enumerate(NAMES.channels):
            self._channels[id] = Channel(id, f"chaos-{number}", members)

    def reach(self, bots: Sequence[str]) -> None:
        self._bots = Balancer([f"{url}/slack/events" for url in bots])
        self._sandbox.bot_url = self._bots.next_url()

    async def settings(self, open_port: OpenPort) -> Mapping[str, str]:
        host, _, own = self._own_url.rpartition(":")
        port = await open_port(("127.0.0.1", int(own)))
        common = {"SLACK_BOT_TOKEN": BOT_TOKEN, "SLACK_API_URL": f"{host}:{port}/api/"}
        if not self._is_socket:
            return {**common, "SLACK_SIGNING_SECRET": SIGNING_SECRET}
        # Slack names the address of each socket. So all sockets go through the link that was opened last.
        self._sandbox.url = f"{host}:{port}"
        return {**common, "SLACK_APP_TOKEN": self._sandbox.app.app_token}

    async def announce(self) -> None:
        """Slack's bots need to know nothing."""

    def messages(self) -> Iterator[tuple[str, dict[str, Message]]]:
        return ((id, self._channels[id].messages) for id in NAMES.channels)

    def card(self, message: Message) -> SlackCard | None:
        return SlackCard(message, self._channels) if message.metadata else None

    async def notice(self, request: web.Request) -> web.Response:
        """The handler of the response URLs, to which a bot sends private messages about one click."""
        body = json.loads(await request.text())
        number = int(request.match_info["number"])
        self._notices.setdefault(number, []).append(str(body.get("text", "")))
        return web.json_response({"ok": True})

    async def press(self, user: str, card: Card, element: Element) -> Answer:
        assert isinstance(card, SlackCard)
        number, began = next(self._numbers), time.time()
        payload = self._payload(user, card.message, element, number)
        status = await (self._send_over_socket if self._is_socket else self._post)(payload)
        fallback = self._ephemerals(user, card.channel, began)
        return Answer(status, " ".join([*self._notices.pop(number, ()), *fallback]))

    def _payload(self, user: str, message: Message, element: Element, number: int) -> Any:
        workspace, app = self._sandbox.workspace, self._sandbox.app
        team = STRANGERS_TEAM if user == NAMES.stranger else workspace.team_id
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
            "trigger_id": self._sandbox.triggers.issue(user),
            "response_url": f"{self.url}/notices/{number}",
            "state": {"values": {}},
            "message": {"type": "message", "user": message.user, "ts": message.ts, "text": message.text},
            "actions": [
                {
                    **element.source.json, "type": "button", "block_id": element.source.block_id,
                    "action_ts": workspace.next_ts(),
                }
            ],
        }  # fmt: skip

    async def _send_over_socket(self, payload: Any) -> int | None:
        answer = await self._sandbox.app_client.send_interaction(payload)
        return None if isinstance(answer, str) else answer.status

    async def _post(self, payload: Any) -> int | None:
        """The status; None if no answer came."""
        body, timestamp = urlencode({"payload": json.dumps(payload)}), str(int(time.time()))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(SIGNING_SECRET, timestamp, body),
        }
        url = self._bots.next_url()
        try:
            async with asyncio.timeout(SLACK_WAITS):
                async with self._session.post(url, data=body, headers=headers) as response:
                    await response.read()
                    return response.status
        except (TimeoutError, aiohttp.ClientError):
            self._bots.rest(url)
            return None

    def _ephemerals(self, user: str, channel: str, since: float) -> list[str]:
        """The bot's private messages to this person in the channel since then."""
        notices = self._sandbox.workspace.ephemerals.values()
        return [
            one.text
            for one in itertools.takewhile(lambda one: float(one.ts) >= since, reversed(notices))
            if one.user == user and one.channel == channel
        ]

    def page(self, user: str, card: Card) -> list[Element]:
        """No run has digests in Slack."""
        return []

    def has_form(self, user: str, card: Card) -> bool:
        stack = self._sandbox.modals.stack(user)
        return bool(stack) and stack[-1]["submit"] is not None

    async def send_form(self, user: str, card: Card, values: Mapping[str, str]) -> Answer:
        modals = self._sandbox.modals
        view = modals.stack(user)[-1]
        typed = build_state(view["blocks"], dict(values))
        try:
            params = {"user": user, "view_id": view["id"], "values": typed}
            result = await self._sandbox.interactions.submit(params)
        except UserError as error:
            return Answer(None, str(error))
        left = modals.stack(user)
        told = read_text([left[-1]["title"], left[-1]["blocks"]]) if left else ""
        is_stored = result["ok"] and result["closed"] and not left
        return Answer(200, "" if is_stored else told or str(result))

    async def close_form(self, user: str, card: Card) -> None:
        self._sandbox.modals.close(user)

    def fail(self, what: str, pick: int) -> Callable[[], None]:
        params: dict[str, Any] = {"mode": what, "times": 1 + pick % 3, "retry_after": 1}
        fault = self._sandbox.faults.configure({**params, "method": METHODS[pick // 3 % 3]})
        assert fault is not None
        return fault.release

    def end_faults(self) -> None:
        self._sandbox.faults.configure({"mode": "ok"})


@asynccontextmanager
async def open_slack(scale: float, mode: Mode) -> AsyncGenerator[SlackChat, None]:
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        running_sandbox(rate_limits=scale) as sandbox,
        aiohttp.ClientSession(connector=connector) as session,
    ):
        chat = SlackChat(sandbox, mode, session)
        app = web.Application()
        app.router.add_post("/notices/{number}", chat.notice)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        chat.url = f"http://{host}:{port}"
        try:
            yield chat
        finally:
            await runner.cleanup()
