"""Submits per second over HTTP (`POST /v1/reviews`), 50 at a time, beside an empty aiohttp handler."""

from __future__ import annotations

import json
import time
from statistics import median

from benchmarks.amount import AT_ONCE, Amount
from benchmarks.figure import Figure
from benchmarks.payload import call
from benchmarks.process import running
from benchmarks.stage import Stage, stage
from benchmarks.wire import post, rate
from hitl_core.model import Token
from hitl_core.store import RedisStore


async def measure(amount: Amount) -> list[Figure]:
    found: dict[str, list[float]] = {}
    async with (
        stage() as at,
        running("bot", "serve", "--only", "http", environment=at.environment) as bot,
        running("benchmarks.programs.empty_http") as empty,
    ):
        headers = {
            "Authorization": f"Bearer {await token(at)}",
            "Content-Type": "application/json",
        }
        urls = {
            "empty": await empty.word_after("listening on "),
            "door": await bot.word_after("listening on "),
        }
        for number in range(amount.rounds + 1):
            requests = [
                post("/v1/reviews", headers, _body(f"{number}-{each}"))
                for each in range(amount.burst)
            ]
            for side, url in urls.items():
                found.setdefault(side, []).append(await rate(requests, [url], AT_ONCE, 201))
    door, floor = (median(found[side][1:]) for side in ("door", "empty"))
    return [Figure("submits over HTTP, of named turns", "/s", door, floor, None, "higher")]


def _body(thread_id: str) -> bytes:
    asked = call()
    calls = [{"id": asked.id, "name": asked.name, "args": asked.args}]
    return json.dumps({"thread_id": thread_id, "turn": "1", "calls": calls}).encode()


async def token(at: Stage) -> str:
    """A token for the agent "bench", as `hitl tokens create` makes one."""
    token, text = Token.issue("bench", "make bench", time.time())
    store = await RedisStore.open(at.redis_url)
    await store.save_token(token)
    await store.close()
    return text
