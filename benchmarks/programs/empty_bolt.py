"""The floor of a click: an empty Bolt app on Bolt's own aiohttp server, with the bot's settings.

With `--store`, its handler first stores something (`programs.floor_store`): the least that a click can do for
an agent in another process.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from slack_bolt.app.async_server import AsyncSlackAppServer
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult

from benchmarks.programs.floor_store import FloorStore
from benchmarks.programs.serving import serve


async def main(*, stores: bool) -> None:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id="T0BENCH", bot_token="xoxb-bench")

    app = AsyncApp(
        signing_secret=os.environ["SLACK_SIGNING_SECRET"],
        authorize=authorize,
        process_before_response=True,
    )
    store = FloorStore(os.environ["HITL_REDIS_URL"])

    @app.action("approve")
    async def approve(ack: AsyncAck, body: dict[str, Any]) -> None:
        if stores:
            await store.save(body["actions"][0]["value"])
        await ack()

    server = AsyncSlackAppServer(port=0, path="/slack/events", app=app)
    await serve(server.web_app, "/slack/events")
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(stores="--store" in sys.argv))
