"""The floor of a submit over HTTP: an aiohttp handler that reads the JSON and answers."""

from __future__ import annotations

import asyncio

from aiohttp import web

from benchmarks.programs.serving import serve


async def submit(request: web.Request) -> web.Response:
    await request.json()
    return web.json_response({"ok": True}, status=201)


def main() -> None:
    app = web.Application()
    app.router.add_post("/v1/reviews", submit)
    asyncio.run(serve(app))


if __name__ == "__main__":
    main()
