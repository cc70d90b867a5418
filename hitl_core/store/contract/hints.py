"""Hints that wake a process: which reviews changed, and which lanes got a job."""

from __future__ import annotations

from typing import Protocol


class Hints(Protocol):
    """Some hints may be lost. The lists of reviews and lanes are complete."""

    async def agent_hints(self, agent: str, block: float) -> list[str]:
        """The ids of this agent's reviews that changed since the last call. Waits for at most `block`
        seconds.

        The first call only sets the position in the stream, and returns an empty list at once.
        """
        ...

    async def changes(self, block: float) -> list[str]:
        """Like `agent_hints`, for the reviews of all agents."""
        ...

    async def lane_hints(self, block: float) -> list[str]:
        """The lanes that got a job since the last call of this process. Waits for at most `block` seconds.
        Hints may be lost; `lanes` returns all.
        """
        ...
