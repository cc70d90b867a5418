"""Which bot gets the next press."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

#: After so many seconds without an answer a bot counts as down: then it gets no presses for REST seconds.
SLOW, REST = 3.0, 1.0


class Balancer:
    """Chooses a bot that answers, as a load balancer does."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = list(urls)
        self._down: dict[str, float] = {}
        self._turn = 0

    @contextmanager
    def choose(self) -> Iterator[str]:
        """The address for one press, which is sent and answered within the block."""
        url = self.next_url()
        slow = asyncio.get_running_loop().call_later(SLOW, self.rest, url)
        try:
            yield url
        finally:
            slow.cancel()

    def next_url(self) -> str:
        now = time.monotonic()
        up = [url for url in self._urls if self._down.get(url, 0.0) < now] or self._urls
        self._turn += 1
        return up[self._turn % len(up)]

    def rest(self, url: str) -> None:
        self._down[url] = time.monotonic() + REST
