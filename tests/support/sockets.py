"""Bots in Socket Mode."""

from __future__ import annotations

from bot.app import Bot
from slack_sandbox.delivery.socket_mode import Connection
from tests.support.bots import QUICK, Process, Scene
from tests.support.waiting import wait_until

OVER_SOCKETS = {"SLACK_APP_TOKEN": "xapp-sandbox", "SLACK_SIGNING_SECRET": ""}


def sockets(scene: Scene) -> list[Connection]:
    return scene.sandbox.socket_mode.connections


async def start_bot(scene: Scene) -> Bot:
    """A bot with two open sockets."""
    before = len(sockets(scene))
    bot = await scene.bot(QUICK, **OVER_SOCKETS)
    await wait_until("its sockets are open", lambda: len(sockets(scene)) == before + 2)
    return bot


async def start_process(scene: Scene, failpoints: str = "", **changed: str) -> Process:
    bot = await scene.bot_process(failpoints, **OVER_SOCKETS, **changed)
    await wait_until("its sockets are open", lambda: len(sockets(scene)) >= 2)
    return bot
