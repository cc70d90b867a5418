"""Finds keys in Redis that would stay permanently although nothing needs them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import redis

from hitl_core.store.contract.review_lists import DONE_OFFSET

#: Keys without a TTL, and the reason why each may stay.
PERMANENT = {
    r"hitl:meta": "the layout and the retention, on which all processes agree",
    r"hitl:tokens": "until they are revoked",
    r"hitl:channel:\w+": "what a channel keeps until the bot is uninstalled",
    r"hitl:\{\d+\}:(due|live|(ready|waiting):[0-9a-f]{32})": "indexes: empty when nothing waits",
    r"hitl:\{\d+\}:(queues|queue:[0-9a-f]{32}|changes|starts)": "empty when all is shown",
    r"hitl:\{\d+\}:(dead|dead-counts)": "until somebody tries them again",
    r"hitl:\{\d+\}:(audit|anchors|exported)": "kept until they were exported",
    r"hitl:\{\d+\}:(history|held)": "which writes were lost, and what is held until it is released",
    r"hitl:\{\d+\}:policies": "the hash of each agent's policy",
}


def find_leaks(client: redis.Redis) -> set[str]:
    """Our keys without a TTL, except for permanent ones and those of reviews that are not done."""
    keys: Iterable[Any] = client.scan_iter(match="hitl:*", count=1000)
    names = [key.decode() if isinstance(key, bytes) else key for key in keys]
    return {name for name in names if client.ttl(name) == -1 and not _may_stay(client, name)}


def find_leaks_at(url: str) -> set[str]:
    """The same at this address; nothing if a test left the server frozen or stopped."""
    with (
        suppress(redis.RedisError),
        redis.Redis.from_url(url, socket_timeout=30, socket_connect_timeout=30) as client,
    ):
        return find_leaks(client)
    return set()


def _may_stay(client: Any, key: str) -> bool:
    if any(re.fullmatch(name, key) for name in PERMANENT):
        return True
    with suppress(redis.ResponseError):  # a test may have stored another type there
        return _is_live(client, key)
    return True


def _is_live(client: Any, key: str) -> bool:
    """Whether the key is a review that is not done, the thread of one, or a digest in which one waits."""
    if review := re.fullmatch(r"(hitl:\{\d+\}):review:(\d+-[0-9a-f]{32})", key):
        return client.zscore(f"{review[1]}:live", review[2]) is not None
    if re.fullmatch(r"hitl:\{\d+\}:thread:[0-9a-f]{32}", key):
        return client.zcount(key, "-inf", f"({DONE_OFFSET}") > 0
    if re.fullmatch(r"hitl:\{\d+\}:digest:[\w-]+", key):
        return any(str(field, "utf-8").startswith("wait:") for field in client.hkeys(key))
    return False
