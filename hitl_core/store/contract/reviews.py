"""One review: what is written of it, and read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from hitl_core.model import Arguments, Event, Place, Review, Snapshot
from hitl_core.store.contract.review_lists import RejectedCall


class Write(NamedTuple):
    """One transition to store: the new review, its event, and the new values of the indexes.

    `args` are the bytes that no earlier version had, by "key:revision". `due_at` is when a bot must look at
    the review next, `ready_at` is from when an agent may claim it; None removes the review from that index.
    With `wakes_agent` the agent's processes are woken at once.

    `chain` is the head of the review's audit as it was read (`Snapshot.chain`). `audiences_added` and
    `audiences_removed` are the changes to the review's audiences (`Review.audiences`), `rejected_added` and
    `rejected_removed` those to the thread's rejected calls (`ReviewLists.rejected_calls`); a person decided
    in the event of a write that adds one. `releases`: the review goes on if it was held (`History`).
    `stays_held`: it is held, and stays so. `started_marks` is how many of the snapshot's marks say what an
    agent has started: a release that knows less than what is stored would let a call run twice.

    `show_by` orders the cards that were never posted, in seconds since the epoch; None: the time of
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
    show_by: float | None = None
    releases: bool = False
    stays_held: bool = False
    started_marks: int = 0

    @property
    def first_post_at(self) -> float:
        """The place of its first posts in the order of their lanes."""
        return self.review.created_at if self.show_by is None else self.show_by


class ReviewStore(Protocol):
    """Loads and commits reviews. What cards show is recorded beside the review, and changes no version."""

    async def load(self, review_id: str) -> Snapshot | None: ...

    async def load_outline(self, review_id: str) -> Snapshot | None:
        """The same without arguments: `review.args` is empty. For code that looks at many reviews."""
        ...

    async def load_arguments(self, review_id: str, names: Sequence[str]) -> dict[str, Arguments]:
        """Some arguments of a review, by "key:revision"; without those that are not there."""
        ...

    async def commit(self, write: Write) -> bool:
        """Store the review and return True, if the stored version is the one before and its audit ends at
        `chain`; and, if the review is held, if this `releases` it or it `stays_held`, and no other
        `started_marks` are there. Else return False. The event becomes the next entry of the audit, unless
        its kind is not audited.

        Version 1 is a new review: it is stored if there is none with this id.
        """
        ...

    async def confirm(self, review_id: str) -> None:
        """Raises StoreUnavailable unless as many replicas as the store was opened with have everything that
        was written for this review. `commit` does so for what people and agents decide on.
        """
        ...

    async def record_shown_version(self, review_id: str, place: Place, version: int) -> int:
        """Record which version a card shows; it never goes back. Returns the newest recorded version."""
        ...

    async def record_mark(self, review_id: str, mark: str) -> bool:
        """Set a mark on the review (`Snapshot.marks`); a mark is not a decision. True for the caller that
        sets it first (a caller that loses this reply can't find out). Does nothing if there is no review.
        """
        ...

    async def drop_mark(self, review_id: str, mark: str) -> None:
        """Take a mark away, so that it can be set again."""
        ...
