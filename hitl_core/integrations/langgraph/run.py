"""Where a run of the agent stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.types import Interrupt


@dataclass(frozen=True, slots=True)
class Run:
    """`state` holds the graph's values. Exactly one of these is the case:

    `finished`: the graph ended. `review_ids`: it waits for people (mostly for one review; several where
    nodes were interrupted side by side). `unknown`: it waits at interrupts that are not ours to answer.
    `refused`: a sentence on why what it asks for can't be reviewed; it stays where it is.
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
