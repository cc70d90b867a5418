"""The floor of a submit over HTTP: an aiohttp handler that reads the JSON and runs one script.

It is the script with which a submit of this thread writes its review. All are recorded before; the arguments
are the number of rounds, and of submits in each.
"""

from __future__ import annotations

import asyncio
import os
import sys

from aiohttp import web
from redis.asyncio import Redis

from benchmarks.measures.submit import record_scripts, run_script
from benchmarks.programs.serving import serve


def threads_of(rounds: int, burst: int) -> list[list[str]]:
    """The threads of each round."""
    return [[f"{number}-{each}" for each in range(burst)] for number in range(rounds)]


async def main(threads: list[str]) -> None:
    async with Redis.from_url(os.environ["HITL_REDIS_URL"]) as redis:
        scripts = dict(zip(threads, await record_scripts(redis, threads), strict=True))

        async def submit(request: web.Request) -> web.Response:
            body = await request.json()
            await run_script(redis, scripts[body["thread_id"]])
            return web.json_response({"ok": True}, status=201)

        app = web.Application()
        app.router.add_post("/v1/reviews", submit)
        await serve(app)


if __name__ == "__main__":
    rounds = threads_of(*map(int, sys.argv[1:]))
    asyncio.run(main([thread for each in rounds for thread in each]))
