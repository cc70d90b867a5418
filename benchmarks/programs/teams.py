"""The local Teams without its checks of cards, which would take CPU from the measured programs. `/count`
returns the number of posted messages, `/messages` for each a press of its Approve: review, activity, token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from benchmarks.programs.serving import serve
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import Message, ids

_ACTIVITIES = "/smba.trafficmanager.net/emea/{tenant}/v3/conversations/{conversation}/activities"


def teams() -> web.Application:
    sandbox = Sandbox(rate_limits=False)
    channel = sandbox.workspace.conversations[ids.APPROVALS]
    messages: list[Message] = []

    async def post(request: web.Request) -> web.Response:
        message = sandbox.workspace.add_message(channel, sandbox.app.mri)
        message.attachments = (await request.json())["attachments"]
        messages.append(message)
        return web.json_response({"id": message.id}, status=201)

    async def update(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"id": request.match_info["item"]})

    async def count(_: web.Request) -> web.Response:
        return web.json_response(len(messages))

    async def every(request: web.Request) -> web.Response:
        sandbox.url = str(request.url.origin())
        token = sandbox.login.bot_framework_token(sandbox.service_url)
        return web.json_response([_press(sandbox, one, token) for one in messages])

    app = web.Application(client_max_size=1024 * 1024)
    app.router.add_post(_ACTIVITIES, post)
    app.router.add_put(f"{_ACTIVITIES}/{{item}}", update)
    app.add_routes(sandbox.connector.routes())
    app.add_routes(sandbox.graph.routes())
    app.add_routes(sandbox.login.routes())
    app.router.add_get("/count", count)
    app.router.add_get("/messages", every)
    return app


def _press(sandbox: Sandbox, message: Message, token: str) -> dict[str, Any]:
    actions = [one for one in _objects(message.card) if one.get("type") == "Action.Execute"]
    approve = next(one for one in actions if one["data"]["value"].startswith("approve."))
    alice = sandbox.workspace.users[ids.ALICE]
    channel = sandbox.workspace.conversations[message.conversation]
    activity = sandbox.activities.press(alice, channel, message, approve, approve["data"])
    review_id = approve["data"]["value"].split(".")[1]
    return {"review_id": review_id, "activity": activity, "token": token}


def _objects(part: Any) -> Iterator[dict[str, Any]]:
    """Every object in this part of a card."""
    if isinstance(part, dict):
        yield part
        part = [*part.values()]
    if isinstance(part, list):
        for one in part:
            yield from _objects(one)


if __name__ == "__main__":
    asyncio.run(serve(teams()))
