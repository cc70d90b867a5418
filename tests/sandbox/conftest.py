"""A sandbox, hands, a Slack client, and a bot that answers whatever a test tells it to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from bot.sandbox.hands import Hands
from bot.sandbox.server import SIGNING_SECRET, Sandbox, running_sandbox
from tests.sandbox.samples import Slack, slack


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


class PlainBot:
    """A bot at the other end of the network: keeps what it gets and gives the next answer."""

    def __init__(self) -> None:
        self.url = ""
        self.payloads: list[dict[str, Any]] = []
        self.answer: tuple[int, str] = (200, "")
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
        self.payloads.append(json.loads(parse_qs(body)["payload"][0]))
        await self.gate.wait()
        status, text = self.answer
        return web.Response(status=status, text=text)


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
    async with running_sandbox(plain_bot.url) as running:
        yield running


@pytest.fixture
async def hands(sandbox: Sandbox) -> AsyncIterator[Hands]:
    async with Hands(sandbox.url) as client:
        yield client


@pytest.fixture
def client(sandbox: Sandbox) -> Slack:
    return slack(sandbox)
