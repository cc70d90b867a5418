"""Loads and stores single reviews."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from hitl_core.model import Arguments, Event, Place, Review, Snapshot
from hitl_core.store.contract.review_lists import RejectedCall

#: How long after its snapshot was read a transition may be stored, in seconds.
MAX_AGE = 5.0


class Write(NamedTuple):
    """One transition to store: the new review, its event, and the new values of the indexes.

    - `args`: the bytes that no earlier version had, by "key:revision";
    - `due_at`, `ready_at`: when a bot must look at the review next, and from when an agent may claim it; None
      removes the review from that index;
    - `wakes_agent`: the agent's processes are woken at once;
    - `chain`: the head of the review's audit when it was read (`Snapshot.chain`);
    - `audiences_added`, `audiences_removed`: the changes to `Review.audiences`;
    - `rejected_added`, `rejected_removed`: the changes to `ReviewLists.rejected_calls`. In the event of a
      write that adds one, a person decided;
    - `releases`, `stays_held`: the write releases a held review (`History`), or the review is held and stays
      so;
    - `started_marks`: how many of the snapshot's marks say that an agent has started a call. A release that
      knows fewer than are stored would let a call run twice;
    - `read_at`: the store's time of the snapshot that the transition was computed from; None for a new
      review. What a process reads and writes much later, after it was stopped for example, is not stored;
    - `show_by`: the order of cards that were never posted, in seconds since the epoch; None: the time of
      submission.
    """

    review: Review
    event: Event
    args: Mapping[str, Arguments]
    due_at: float | None
    ready_at: float | None
    wakes_agent: bool
    chain: str = ""
    audiences_added: Collection[str] = ()
    audiences_removed: Collection[str] = ()
    rejected_added: Collection[RejectedCall] = ()
    rejected_removed: Collection[RejectedCall] = ()
    read_at: float | None = None
    show_by: float | None = None
    releases: bool = False
    stays_held: bool = False
    started_marks: int = 0

    @property
    def first_post_at(self) -> float:
        """The position of its first posts in their lanes."""
        return self.review.created_at if self.show_by is None else self.show_by


class ReviewStore(Protocol):
    """Loads and commits reviews. What cards show is stored beside the review, and changes no version."""

    async def load(self, review_id: str) -> Snapshot | None: ...

    async def load_outline(self, review_id: str) -> Snapshot | None:
        """Like `load`, without the arguments: `review.args` is empty. For code that reads many reviews."""
        ...

    async def load_arguments(self, review_id: str, names: Sequence[str]) -> dict[str, Arguments]:
        """Arguments of a review, by "key:revision". Those that don't exist are left out."""
        ...

    async def commit(self, write: Write) -> bool:
        """Store the review and return True, if the stored version is the one before, its audit ends at
        `chain`, the snapshot was read at most MAX_AGE ago, and, if it is held, the write `releases` it or it
        `stays_held`, with as many `started_marks` as are stored. Otherwise return False. The event becomes
        the next entry of the audit, unless its kind is not audited.

        Version 1 is a new review: it is stored if no review has this id.
        """
        ...

    async def confirm(self, review_id: str) -> None:
        """Raises StoreUnavailable unless enough replicas have everything that was written for this review
        (the number is an option of the store). `commit` calls it itself for what people and agents decide on.
        """
        ...

    async def missing_replicas(self, missing: set[int] | None = None) -> int:
        """How many of the replicas that `confirm` needs confirm nothing now, where most are missing."""
        ...

    async def record_shown_version(self, review_id: str, place: Place, version: int) -> int:
        """Record the version that a card shows, unless a newer one is recorded. Returns the newest one."""
        ...

    async def record_mark(self, review_id: str, mark: str) -> bool:
        """Set a mark on the review (`Snapshot.marks`); a mark is not a decision. True for the first caller
        that sets it; a caller that loses this reply can't find out. Does nothing if there is no review.
        """
        ...

    async def drop_mark(self, review_id: str, mark: str) -> None:
        """Remove a mark, so that it can be set again."""
        ...
