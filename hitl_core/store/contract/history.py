"""Detects that the store lost writes, and holds the reviews because of that."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class HistoryCheck(NamedTuple):
    """`lost`: since the last check, a loss of writes was found. `held`: the number of held reviews now.
    `missing`: how many partitions gave no answer, so that more may be held.
    """

    lost: bool
    held: int
    missing: int = 0


class HeldReview(NamedTuple):
    """`since`: when it was held, in seconds since the epoch."""

    since: float
    id: str


class History(Protocol):
    """A store can lose its latest writes: at a crash, at a failover to a replica that lags, or when an old
    backup is restored. Each process remembers what it has seen; `check_history` and each `commit` compare
    this with what is stored. After a loss every live review is held: `commit` stores nothing for it, except
    its release, its cancellation, and votes to cancel it.
    """

    @property
    def history(self) -> str:
        """The id of the store's history. It changes after each loss that this process knows of, and after
        `hold_live_reviews`.
        """
        ...

    async def check_history(self) -> HistoryCheck:
        """Compare what this process has seen with what is stored. Call it every few seconds. A partition that
        gives no answer keeps no other one from it.
        """
        ...

    async def hold_live_reviews(self) -> int:
        """Hold every live review, after a loss that no process could see. Returns how many are held now."""
        ...

    async def held_reviews(
        self, limit: int = 100, missing: set[int] | None = None
    ) -> list[HeldReview]:
        """The held reviews, the longest held first."""
        ...

    async def unschedule(self, review_id: str, agent: str) -> None:
        """Remove a held review from the lists of due and ready reviews, so that it doesn't delay the others.
        Its release adds it again. Does nothing if the review is not held.
        """
        ...

    async def drop_missing(self, review_id: str) -> bool:
        """Remove the name of a review that is not stored any more from the lists of live, held and due
        reviews. False if the review is stored, or no list has it.
        """
        ...
