"""Faults that are put into the product on purpose: with each of them the run must fail.

They change the product at the edge of a library, in the processes of one run only.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Any

#: In hitl_core/store/redis/lua/reviews/commit.lua.
_COMPARISON = "(current[1] or '0') ~= ARGV[2] or (current[2] or '') ~= ARGV[14]"
#: How long the planted bot holds a click only in memory, in seconds.
IN_MEMORY = 0.4


def _remove_version_check() -> None:
    """`commit.lua` overwrites what others stored since it was read."""
    from redis.commands.core import AsyncScript

    init: Callable[[Any, Any, str], None] = AsyncScript.__init__

    def init_changed(self: Any, client: Any, script: str) -> None:
        if "HMGET', KEYS[1], 'version', 'chain'" in script:
            if _COMPARISON not in script:
                raise RuntimeError("commit.lua compares in another way: change this plant with it.")
            script = script.replace(_COMPARISON, "ARGV[2] == '0' and current[1]")
        init(self, client, script)

    setattr(AsyncScript, "__init__", init_changed)  # noqa: B010 - pyright knows its type


def _acknowledge_first() -> None:
    """A click is acknowledged, then it waits in memory to be stored."""
    from slack_bolt.async_app import AsyncApp

    add: Any = AsyncApp.action
    tasks = set[asyncio.Task[None]]()

    def action(self: Any, *args: Any, **more: Any) -> Any:
        def decorate(listener: Any) -> Any:
            async def press(ack: Any, body: Any, respond: Any) -> None:
                await ack()
                tasks.add(asyncio.create_task(store(ack, body, respond)))

            async def store(*given: Any) -> None:
                await asyncio.sleep(IN_MEMORY)
                await listener(*given)

            return add(self, *args, **more)(press)

        return decorate

    setattr(AsyncApp, "action", action)  # noqa: B010


def _lose_drawings() -> None:
    """Half of all updates of a card are not sent, and the bot believes that they were."""
    from slack_sdk.web.async_client import AsyncWebClient

    send: Any = AsyncWebClient.api_call

    async def api_call(self: Any, api_method: str, **more: Any) -> Any:
        if api_method == "chat.update" and random.random() < 0.5:
            return await send(self, "auth.test")
        return await send(self, api_method, **more)

    setattr(AsyncWebClient, "api_call", api_call)  # noqa: B010


def _leave_to_the_server() -> None:
    """`everysec`: the Redis of the run loses writes; nothing is changed in our programs."""


PLANTS: Mapping[str, Callable[[], None]] = {
    "version-check": _remove_version_check,
    "early-ack": _acknowledge_first,
    "lost-drawing": _lose_drawings,
    "everysec": _leave_to_the_server,
}


def plant(name: str) -> None:
    """Changes this process. "" plants nothing."""
    if name:
        PLANTS[name]()
