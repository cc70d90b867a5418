"""The smallest part of Slack's Web API that the bot needs. It answers at once, checks nothing, and stores the
posted messages. `/count` returns their number, `/messages` the messages, `/home` the last published view.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from benchmarks.programs.serving import serve

TEAM, CHANNEL, PERSON = "T0BENCH", "C0APPROVE", "U0ALICE"
MEMBERS = [PERSON, *(f"U0MEMBER{number:02}" for number in range(20))]

_PLACE = {"id": CHANNEL, "name": "agent-approvals", "is_member": True, "num_members": 22}
ANSWERS: dict[str, dict[str, Any]] = {
    "auth.test": {"team_id": TEAM, "user_id": "U0APPROVER", "bot_id": "B0APPROVER"},
    "conversations.list": {"channels": [_PLACE]},
    "conversations.info": {"channel": _PLACE},
    "conversations.members": {"members": MEMBERS},
    "users.info": {
        "user": {
            "id": PERSON,
            "team_id": TEAM,
            "name": "alice",
            "real_name": "Alice Ng",
            **dict.fromkeys(("deleted", "is_bot", "is_restricted", "is_ultra_restricted"), False),
        }
    },
    "chat.update": {"channel": CHANNEL},
    "usergroups.list": {"usergroups": []},
    "users.conversations": {"channels": [_PLACE]},
}


def slack() -> web.Application:
    messages: list[dict[str, Any]] = []
    homes: list[dict[str, Any]] = []

    async def method(request: web.Request) -> web.Response:
        name = request.match_info["method"]
        if name == "chat.postMessage":
            ts = f"1800000000.{len(messages):06}"
            messages.append({"ts": ts, **await request.json()})
            return web.json_response({"ok": True, "channel": CHANNEL, "ts": ts})
        if name == "views.publish":
            homes[:] = [(await request.json())["view"]]
            return web.json_response({"ok": True, "view": {"id": "V0HOME"}})
        if name not in ANSWERS:
            # For example the message after a refused click: then a figure would be wrong.
            return web.json_response({"ok": False, "error": "unknown_method"})
        return web.json_response({"ok": True, **ANSWERS[name]})

    async def count(_: web.Request) -> web.Response:
        return web.json_response(len(messages))

    async def every(_: web.Request) -> web.Response:
        return web.json_response(messages)

    async def home(_: web.Request) -> web.Response:
        return web.json_response(homes)

    app = web.Application(client_max_size=1024 * 1024)
    app.router.add_route("*", "/api/{method}", method)
    app.router.add_get("/count", count)
    app.router.add_get("/messages", every)
    app.router.add_get("/home", home)
    return app


if __name__ == "__main__":
    asyncio.run(serve(slack()))
