"""Reviews on a real Redis: how they are submitted, and what their audit says."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import redis

from hitl_core.model import Review
from hitl_core.review.service import Reviews
from hitl_core.store.redis.keys import Keys
from hitl_core.store.redis.packing import unpack
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.builders import call, review_of

OwnRedis = Callable[[], EmbeddedRedis]


Open = Callable[..., Awaitable[Reviews]]


async def submit(reviews: Reviews, *names: str, **where: Any) -> Review:
    calls = [call(name, f"c{n}", n=n) for n, name in enumerate(names or ("ask",), start=1)]
    now = await reviews.with_retry(reviews.store.now)
    return await reviews.submit(*review_of(calls, now=now, **where))


def audit(url: str) -> list[dict[str, Any]]:
    """What happened, in order, as it is kept."""
    with redis.Redis.from_url(url) as client:
        entries: Any = client.xrange(Keys(0).audit)
    return [json.loads(unpack(fields[b"event"])) for _, fields in entries]
