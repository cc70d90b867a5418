"""What this process drives at the moment: the driver puts it here, the guard finds it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from hitl_core.gate import Outcome


@dataclass(slots=True)
class Held:
    """An outcome that this process drives.

    `lines` are what the store has not got yet, by call id; `running` are its tools.
    """

    outcome: Outcome
    lines: dict[str, str] = field(default_factory=dict[str, str])
    running: set[asyncio.Future[Any]] = field(default_factory=set["asyncio.Future[Any]"])

    @property
    def claim(self) -> str:
        return f"{self.outcome.review_id}:{self.outcome.review.fence}"

    async def settle(self) -> None:
        """Let the tools that run come to their end, so that they are reported and not in doubt."""
        await asyncio.gather(*self.running, return_exceptions=True)


class Holding:
    """By claim, not by thread: a run that slept past its lease must not find its successor's."""

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}

    def get(self, claim: str | None, turn: str) -> Held | None:
        held = self._held.get(claim or "")
        return held if held and held.outcome.turn == turn else None

    @contextlib.contextmanager
    def hold(self, outcome: Outcome) -> Generator[Held, None, None]:
        held = Held(outcome)
        self._held[held.claim] = held
        try:
            yield held
        finally:
            del self._held[held.claim]
