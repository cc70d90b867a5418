"""A sandbox, people who act in it, a Slack client, and a bot whose answers a test sets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qsl

import pytest
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import SIGNING_SECRET, Sandbox
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.samples import Slack, slack
from tests.support.bots import CLICK


class PlainBot:
    """A bot at the other end of the network: keeps what it gets and gives the next answer. `received`
    is the headers of each request."""

    def __init__(self) -> None:
        self.url = ""
        self.received: list[Mapping[str, str]] = []
        self.payloads: list[dict[str, Any]] = []
        self.commands: list[dict[str, str]] = []
        self.events: list[dict[str, Any]] = []
        self.answer: tuple[int, str] = (200, "")
        self.answer_headers: dict[str, str] = {}
        self.gate = asyncio.Event()
        self.gate.set()

    def answers(self, body: dict[str, Any] | str, status: int = 200) -> None:
        self.answer = (status, body if isinstance(body, str) else json.dumps(body))

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.text()
        assert SignatureVerifier(SIGNING_SECRET).is_valid(
            body,
            request.headers["X-Slack-Request-Timestamp"],
            request.headers["X-Slack-Signature"],
        )
        self.received.append(request.headers)
        form = dict(parse_qsl(body, keep_blank_values=True))
        if request.content_type == "application/json":
            self.events.append(json.loads(body))
        elif "payload" in form:
            self.payloads.append(json.loads(form["payload"]))
        else:
            self.commands.append(form)
        await self.gate.wait()
        status, text = self.answer
        return web.Response(status=status, text=text, headers=self.answer_headers)


@pytest.fixture
async def plain_bot() -> AsyncIterator[PlainBot]:
    bot = PlainBot()
    app = web.Application()
    app.router.add_post("/slack/events", bot.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    bot.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    yield bot
    bot.gate.set()
    await runner.cleanup()


@pytest.fixture
async def sandbox(plain_bot: PlainBot) -> AsyncIterator[Sandbox]:
    async with running_sandbox(plain_bot.url, answer_timeout=CLICK) as running:
        yield running


@pytest.fixture
async def actor(sandbox: Sandbox) -> AsyncIterator[Actor]:
    async with Actor(sandbox.url) as client:
        yield client


@pytest.fixture
def client(sandbox: Sandbox) -> Slack:
    return slack(sandbox)
