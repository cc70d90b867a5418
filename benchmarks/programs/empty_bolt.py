"""The floor of a click: an empty Bolt app on Bolt's own aiohttp server, with the bot's settings.

With `--store`, its handler first stores something with one script, which wakes `programs.stream_reader`: the
least that a click can do for an agent in another process.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from redis.asyncio import Redis
from slack_bolt.app.async_server import AsyncSlackAppServer
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult

from benchmarks.programs.serving import serve

#: The approximate size of a decided review, in bytes.
STORED = "x" * 1500
SCRIPT = """
redis.call('HSET', KEYS[1], 'version', '2', 'data', ARGV[2])
redis.call('XADD', KEYS[2], '*', 'review', ARGV[1])
return 1
"""
STREAM = "bench:{0}:stream"


async def main(*, stores: bool) -> None:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id="T0BENCH", bot_token="xoxb-bench")

    app = AsyncApp(
        signing_secret=os.environ["SLACK_SIGNING_SECRET"],
        authorize=authorize,
        process_before_response=True,
    )
    redis = Redis.from_url(os.environ["HITL_REDIS_URL"])
    store = redis.register_script(SCRIPT)

    @app.action("approve")
    async def approve(ack: AsyncAck, body: dict[str, Any]) -> None:
        if stores:
            review = str(body["actions"][0]["value"]).split(".")[1]
            await store(keys=[f"bench:{{0}}:{review}", STREAM], args=[review, STORED])
        await ack()

    server = AsyncSlackAppServer(port=0, path="/slack/events", app=app)
    await serve(server.web_app, "/slack/events")
    await redis.aclose()


if __name__ == "__main__":
    asyncio.run(main(stores="--store" in sys.argv))
