"""The floor of a click in Teams: an empty app of Microsoft's SDK on aiohttp, which checks each token.

With `--store`, its handler first stores something (`programs.floor_store`): the least that a click can do for
an agent in another process.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from typing import Any

from aiohttp import web
from microsoft_teams.api import AdaptiveCardActionMessageResponse
from microsoft_teams.api.auth.cloud_environment import PUBLIC
from microsoft_teams.apps import App
from microsoft_teams.apps.http import HttpServerAdapter

from benchmarks.programs.floor_store import FloorStore
from benchmarks.programs.serving import serve

KEYS = "login.botframework.com/v1/.well-known/openidconfiguration"


class AiohttpAdapter(HttpServerAdapter):
    """The SDK's requests on an aiohttp application."""

    def __init__(self) -> None:
        self.app = web.Application()

    def register_route(self, method: str, path: str, handler: Any) -> None:
        async def handle(request: web.Request) -> web.Response:
            headers = {name.lower(): value for name, value in request.headers.items()}
            answer = await handler({"body": await request.json(), "headers": headers})
            return web.json_response(answer["body"], status=answer["status"])

        self.app.router.add_route(method, path, handle)

    async def start(self, port: int) -> None:
        """Not called: `serve` serves the application."""


async def main(*, stores: bool) -> None:
    adapter = AiohttpAdapter()
    app = App(
        client_id=os.environ["TEAMS_CLIENT_ID"],
        client_secret=os.environ["TEAMS_CLIENT_SECRET"],
        tenant_id=os.environ["TEAMS_TENANT_ID"],
        cloud=replace(PUBLIC, openid_metadata_url=f"{os.environ['TEAMS_CLOUD_URL']}{KEYS}"),
        http_server_adapter=adapter,
    )
    store = FloorStore(os.environ["HITL_REDIS_URL"])

    @app.on_card_action_execute
    async def approve(context: Any) -> AdaptiveCardActionMessageResponse:
        if stores:
            await store.save(context.activity.value.action.data["value"])
        return AdaptiveCardActionMessageResponse(value="Approved.")

    await app.initialize()
    await serve(adapter.app, app.server.messaging_endpoint)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(stores="--store" in sys.argv))
