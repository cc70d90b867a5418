"""Slack's rate limits: per method, app and workspace. https://docs.slack.dev/apis/web-api/rate-limits"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

TIER_1, TIER_2, TIER_3, TIER_4 = 1, 20, 50, 100
# For methods of the "special" tier Slack gives no number, only "hundreds per minute".
SPECIAL = 600
PER_MINUTE: dict[str, int] = {
    "auth.test": SPECIAL,
    "chat.getPermalink": SPECIAL,
    "chat.postMessage": 300,
    "chat.update": TIER_3,
    "chat.delete": TIER_3,
    "chat.postEphemeral": TIER_4,
    "conversations.info": TIER_3,
    "conversations.list": TIER_2,
    "conversations.members": TIER_4,
    "conversations.open": TIER_3,
    "conversations.history": TIER_3,
    "conversations.replies": TIER_3,
    "users.info": TIER_4,
    "users.list": TIER_2,
    "users.lookupByEmail": TIER_3,
    "users.conversations": TIER_3,
    "usergroups.list": TIER_2,
    "usergroups.users.list": TIER_2,
    "views.open": TIER_4,
    "views.publish": TIER_4,
    "views.update": TIER_4,
    "views.push": TIER_4,
    "files.getUploadURLExternal": TIER_4,
    "files.completeUploadExternal": TIER_4,
}
POSTS_PER_SECOND = 1.0
POST_BURST = 4


@dataclass
class _Bucket:
    tokens: float
    updated_at: float


class RateLimits:
    """Token buckets that start full. `now` is in seconds; with a `scale` of 20 a minute takes 3 s, also in
    the answers.
    """

    def __init__(self, now: Callable[[], float], scale: float = 1.0) -> None:
        self._now = lambda: now() * scale
        self._scale = scale
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def retry_after(self, method: str, channel: str = "") -> float | None:
        """None if the call may run, else the seconds to wait before the next try: a whole number,
        unless scaled.
        """
        limits = [
            ((method, ""), PER_MINUTE.get(method, TIER_3), PER_MINUTE.get(method, TIER_3) / 60)
        ]
        if method == "chat.postMessage":
            limits.append(((method, channel), POST_BURST, POSTS_PER_SECOND))
        buckets = [(self._refill(key, size, rate), rate) for key, size, rate in limits]
        waits = [(1 - bucket.tokens) / rate for bucket, rate in buckets if bucket.tokens < 1]
        if waits:
            whole = max(1, math.ceil(max(waits)))
            return whole if self._scale == 1 else whole / self._scale
        for bucket, _ in buckets:
            bucket.tokens -= 1
        return None

    def _refill(self, key: tuple[str, str], size: int, rate: float) -> _Bucket:
        now = self._now()
        bucket = self._buckets.setdefault(key, _Bucket(size, now))
        bucket.tokens = min(size, bucket.tokens + (now - bucket.updated_at) * rate)
        bucket.updated_at = now
        return bucket
