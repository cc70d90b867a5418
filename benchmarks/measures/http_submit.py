"""Submits per second over HTTP (`POST /v1/reviews`), 50 at a time.

They are compared with an aiohttp handler that reads the same JSON, and runs the script that writes the same
review.
"""

from __future__ import annotations

import json
import time
from statistics import median

from benchmarks.programs.empty_http import threads_of
from benchmarks.report.figure import Figure
from benchmarks.support.amount import AT_ONCE, Amount
from benchmarks.support.fixture import Fixture, open_fixture
from benchmarks.support.http_client import measure_rate, post_request
from benchmarks.support.payload import tool_call
from benchmarks.support.process import running
from hitl_core.model import Token
from hitl_core.store import RedisStore


async def measure(amount: Amount) -> list[Figure]:
    rates: dict[str, list[float]] = {}
    async with (
        open_fixture() as fixture,
        running("bot", "serve", "--only", "http", environment=fixture.environment) as bot,
        running(
            "benchmarks.programs.empty_http",
            str(amount.rounds + 1),
            str(amount.burst),
            environment=fixture.environment,
        ) as empty,
    ):
        headers = {
            "Authorization": f"Bearer {await create_token(fixture)}",
            "Content-Type": "application/json",
        }
        urls = {
            "empty": await empty.address(),
            "bot": await bot.address(),
        }
        for threads in threads_of(amount.rounds + 1, amount.burst):
            requests = [post_request("/v1/reviews", headers, _body(each)) for each in threads]
            for side, url in urls.items():
                rates.setdefault(side, []).append(await measure_rate(requests, [url], AT_ONCE, 201))
    ours, floor = (median(rates[side][1:]) for side in ("bot", "empty"))
    return [Figure("submits over HTTP, of named turns", "/s", ours, floor, 0.3, "higher")]


def _body(thread_id: str) -> bytes:
    call = tool_call()
    calls = [{"id": call.id, "name": call.name, "args": call.args}]
    return json.dumps({"thread_id": thread_id, "turn": "1", "calls": calls}).encode()


async def create_token(fixture: Fixture) -> str:
    """A token for the agent "bench", as `hitl tokens create` makes one."""
    token, text = Token.issue("bench", "make bench", time.time())
    store = await RedisStore.open(fixture.redis_url)
    await store.save_token(token)
    await store.close()
    return text
