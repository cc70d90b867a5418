"""A client that is killed in the middle of its request."""

from __future__ import annotations

import asyncio
import logging

import pytest
from aiohttp import web

from tests.support.waiting import wait_until


async def check_half_a_request(
    app: web.Application, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a client that sends half a request and closes its connection; then no error is logged."""
    caplog.set_level(logging.INFO, "aiohttp")
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        _, writer = await asyncio.open_connection(*runner.addresses[0][:2])
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{{"
        writer.write(head.encode())
        await writer.drain()
        writer.close()

        def is_over() -> bool:
            return any(one.name == "aiohttp.access" for one in caplog.records)

        await wait_until("the request is over", is_over)
    finally:
        await runner.cleanup()
    assert [one.getMessage() for one in caplog.records if one.levelno > logging.INFO] == []
