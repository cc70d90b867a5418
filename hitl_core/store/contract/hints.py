"""Hints that wake a process: which reviews changed, and which lanes got a job."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from hitl_core.model import Snapshot

#: A hint carries its review up to this size in bytes: streams keep many hints.
MAX_HINT = 4096


def read_nothing() -> None:
    """`AgentHint.read` of a hint that carries no review."""


class AgentHint(NamedTuple):
    """A review of an agent changed. If a process waits for it, and it is small, the hint carries the review
    as it was stored then: `read` returns it, else None. It saves a load, and like every snapshot it may be
    old: see `Write.read_at`.
    """

    review_id: str
    read: Callable[[], Snapshot | None] = read_nothing


class Hints(Protocol):
    """Some hints may be lost. The lists of reviews and lanes are complete."""

    async def agent_hints(self, agent: str, block: float) -> list[AgentHint]:
        """This agent's reviews that changed since the last call. Waits for at most `block` seconds.

        The first call only sets the position in the stream, and returns an empty list at once.
        """
        ...

    async def changes(self, block: float) -> list[str]:
        """The ids of the reviews of all agents that changed; else like `agent_hints`."""
        ...

    async def lane_hints(self, block: float) -> list[str]:
        """The lanes that got a job since the last call of this process. Waits for at most `block` seconds.
        Hints may be lost; `lanes` returns all.
        """
        ...
