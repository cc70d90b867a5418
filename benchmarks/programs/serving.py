"""Serves a web application until the process is stopped. The first line that it prints is the address."""

from __future__ import annotations

import asyncio
import signal

from aiohttp import web


async def serve(app: web.Application, path: str = "/") -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        print(f"listening on http://127.0.0.1:{port}{path}", flush=True)
        await stopped.wait()
    finally:
        await runner.cleanup()
