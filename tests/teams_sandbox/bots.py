"""The bot of the tests: it stores each request, checks its token, and sends the next prepared answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
from aiohttp import web

from teams_sandbox.login import BOT_FRAMEWORK_KEY
from teams_sandbox.workspace import CLIENT_ID

CARD = "application/vnd.microsoft.card.adaptive"
MESSAGE = "application/vnd.microsoft.activity.message"
ERROR = "application/vnd.microsoft.error"


class PlainBot:
    """`answers` are given in turn, the last one again and again; an answer is a status and a body."""

    def __init__(self) -> None:
        self.url = ""
        self.activities: list[dict[str, Any]] = []
        self.answers: list[tuple[int, Any]] = [(200, answer("Done.", MESSAGE))]
        self.gate = asyncio.Event()
        self.gate.set()

    async def handle(self, request: web.Request) -> web.Response:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        activity = await request.json()
        public = BOT_FRAMEWORK_KEY.private.public_key()
        claims = jwt.decode(token, public, algorithms=["RS256"], audience=CLIENT_ID)
        assert claims["serviceurl"] == activity["serviceUrl"]
        self.activities.append(activity)
        await self.gate.wait()
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if activity["type"] != "invoke":
            return web.Response(status=200)
        return (
            web.Response(status=status) if body is None else web.json_response(body, status=status)
        )


def answer(value: Any, kind: str = CARD, status: int = 200) -> dict[str, Any]:
    """The bot's answer to an invoke."""
    return {"statusCode": status, "type": kind, "value": value}


@asynccontextmanager
async def running_bot() -> AsyncIterator[PlainBot]:
    bot = PlainBot()
    app = web.Application()
    app.router.add_post("/api/messages", bot.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    bot.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/messages"
    try:
        yield bot
    finally:
        bot.gate.set()
        await runner.cleanup()
