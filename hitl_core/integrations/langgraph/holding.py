"""What this process drives at the moment: the driver puts it here, the guard finds it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import Interrupt

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
        self._waiting: dict[str, Mapping[str, tuple[Interrupt, ...]]] = {}
        self._answered: dict[str, frozenset[str]] = {}
        self._gone_on: dict[str, set[tuple[str, str]]] = {}

    def get(self, claim: str | None, turn: str) -> Held | None:
        held = self._held.get(claim or "")
        return held if held and held.outcome.turn == turn else None

    def claimed(self, claim: str | None) -> Held | None:
        """Whatever its turn."""
        return self._held.get(claim or "")

    def waiting(self, claim: str | None) -> Mapping[str, tuple[Interrupt, ...]] | None:
        """The interrupts that are not answered now, by task. None: no driver of this process runs this."""
        return self._waiting.get(claim or "")

    def may_go_on(self, claim: str | None, task_id: str, call_id: str) -> bool:
        """Whether this step answers an interrupt of this task: True once for each of its calls."""
        went = self._gone_on.get(claim or "", set())
        if task_id not in self._answered.get(claim or "", ()) or (task_id, call_id) in went:
            return False
        went.add((task_id, call_id))
        return True

    @contextlib.contextmanager
    def hold(self, outcome: Outcome) -> Generator[Held, None, None]:
        held = Held(outcome)
        self._held[held.claim] = held
        try:
            yield held
        finally:
            del self._held[held.claim]

    @contextlib.contextmanager
    def drive(
        self,
        claim: str,
        waiting: Mapping[str, tuple[Interrupt, ...]],
        answered: frozenset[str] = frozenset(),
    ) -> Generator[None, None, None]:
        """While a step of the graph runs. `answered` are the tasks of which it answers an interrupt."""
        self._waiting[claim] = waiting
        self._answered[claim], self._gone_on[claim] = answered, set()
        try:
            yield
        finally:
            del self._waiting[claim], self._answered[claim], self._gone_on[claim]
