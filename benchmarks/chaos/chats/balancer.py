"""Which bot gets the next press."""

from __future__ import annotations

import time
from collections.abc import Sequence

#: How long a bot gets no presses after it did not answer one, in seconds.
REST = 1.0


class Balancer:
    """Chooses a bot that answered recently, as a load balancer does."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = list(urls)
        self._down: dict[str, float] = {}
        self._turn = 0

    def next_url(self) -> str:
        now = time.monotonic()
        up = [url for url in self._urls if self._down.get(url, 0.0) < now] or self._urls
        self._turn += 1
        return up[self._turn % len(up)]

    def rest(self, url: str) -> None:
        self._down[url] = time.monotonic() + REST
