"""Whether the store lost writes, and the reviews that are held because of that."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class HistoryCheck(NamedTuple):
    """`lost`: since the last check it was found that the store lost writes. `held`: how many reviews are held
    now.
    """

    lost: bool
    held: int


class HeldReview(NamedTuple):
    """`since`: when it was held, and not released since."""

    since: float
    id: str


class History(Protocol):
    """A store can lose its latest writes: at a crash, at a failover to a replica that lags, or when an old
    backup is restored. Each process remembers what it has seen, and compares it here, and in each `commit`.
    After a loss every live review is held: `commit` stores nothing for it, except what releases it.
    """

    @property
    def history(self) -> str:
        """Another one after each loss that this process knows of, and after `hold_live_reviews`."""
        ...

    async def check_history(self) -> HistoryCheck:
        """Compare what this process has seen with what is stored. Call it every few seconds."""
        ...

    async def hold_live_reviews(self) -> int:
        """Hold every live review, after a loss that no process could see. Returns how many are held now."""
        ...

    async def held_reviews(self, limit: int = 100) -> list[HeldReview]:
        """The held reviews, those first that are held for longest."""
        ...

    async def unschedule(self, review_id: str, agent: str) -> None:
        """Remove a held review from the due and ready reviews, so that the others don't wait behind it. Its
        release puts it back. Does nothing if the review is not held.
        """
        ...
