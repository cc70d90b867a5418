"""Bugs that are added to the product on purpose: the run must fail with each of them.

They are added where the product calls a library, and only in the processes of one run.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Any

#: In hitl_core/store/redis/lua/reviews/commit.lua.
_COMPARISON = "(current[1] or '0') ~= expected or (current[2] or '') ~= head_before"
#: How long the bot with `early-ack` keeps a click only in memory, in seconds.
IN_MEMORY = 0.4


def _remove_version_check() -> None:
    """`commit.lua` overwrites what other processes have stored since the review was read."""
    from redis.commands.core import AsyncScript

    from hitl_core.store.redis.scripts import read_script

    commit = read_script("commit")
    if _COMPARISON not in commit:
        raise RuntimeError("commit.lua compares in another way now: change this bug with it.")
    init: Callable[[Any, Any, str], None] = AsyncScript.__init__

    def init_changed(self: Any, client: Any, script: str) -> None:
        if script == commit:
            script = script.replace(_COMPARISON, "expected == '0' and current[1]")
        init(self, client, script)

    setattr(AsyncScript, "__init__", init_changed)  # noqa: B010 - pyright knows its type


def _acknowledge_first() -> None:
    """A click in Slack is acknowledged before it is stored."""
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
    """Half of all updates of cards are not sent, but the bot believes that they were."""
    from httpx import AsyncClient, Response
    from slack_sdk.web.async_client import AsyncWebClient

    call_slack: Any = AsyncWebClient.api_call
    send_to_teams: Any = AsyncClient.send

    async def api_call(self: Any, api_method: str, **more: Any) -> Any:
        if api_method == "chat.update" and random.random() < 0.5:
            return await call_slack(self, "auth.test")
        return await call_slack(self, api_method, **more)

    async def send(self: Any, request: Any, **more: Any) -> Any:
        if request.method == "PUT" and random.random() < 0.5:
            return Response(200, json={"id": request.url.path.rpartition("/")[2]}, request=request)
        return await send_to_teams(self, request, **more)

    setattr(AsyncWebClient, "api_call", api_call)  # noqa: B010
    setattr(AsyncClient, "send", send)  # noqa: B010


def _change_nothing() -> None:
    """For `everysec`: the run starts a Redis that loses writes, and our programs stay as they are."""


BUGS: Mapping[str, Callable[[], None]] = {
    "version-check": _remove_version_check,
    "early-ack": _acknowledge_first,
    "lost-drawing": _lose_drawings,
    "everysec": _change_nothing,
}


def add_bug(name: str) -> None:
    """Adds the bug to this process. "" adds none."""
    if name:
        BUGS[name]()
