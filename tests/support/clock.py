"""A clock that only a test moves."""

from __future__ import annotations

from tests.support.builders import START


class Clock:
    """Pass it where code takes a `clock` or `now`, and set `clock.now`, in seconds since the epoch."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now

    async def let_pass(self, seconds: float) -> None:
        self.now += seconds
