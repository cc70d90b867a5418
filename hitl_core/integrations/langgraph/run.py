"""The result of driving an agent: where its run stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.types import Interrupt


@dataclass(frozen=True, slots=True)
class Run:
    """`state` holds the graph's values. Exactly one of these is set:

    `finished`: the graph ended. `review_ids`: it waits for people, mostly for one review; for several if
    parallel nodes paused. `unknown`: it waits at interrupts that are not reviews; you answer them.
    `refusal`: an error text: its question can't be reviewed, or can't be answered. The run stays paused.
    """

    thread_id: str
    state: Mapping[str, Any]
    finished: bool
    review_ids: tuple[str, ...] = ()
    unknown: tuple[Interrupt, ...] = ()
    refusal: str | None = None

    @property
    def review_id(self) -> str | None:
        """The review that the run waits for."""
        return self.review_ids[0] if self.review_ids else None
