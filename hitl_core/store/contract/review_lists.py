"""Lists of reviews: of a thread, of an audience, and those that are due, ready or live."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from hitl_core.model import Event, Review

#: The most reviews in the list of one person's decisions.
MAX_DECIDED = 200
#: The most rejected calls in the list of one thread.
MAX_REJECTED = 100


class LiveReview(NamedTuple):
    """A review that is not done. The fields are its sort key in the list of live reviews."""

    submitted_at: float
    id: str


#: Added to the position of a done review, so that it comes after the live ones of its thread. commit.lua has
#: it too.
DONE_OFFSET = 1e11


class ThreadReview(NamedTuple):
    """A review in the list of its thread. The fields are its sort key. By `position`, live reviews come
    first, ordered by submission, then done reviews, ordered by completion.
    """

    position: float
    id: str

    @classmethod
    def of(cls, review: Review) -> ThreadReview:
        done = review.status == "done"
        return cls((review.done_at or 0.0) + DONE_OFFSET if done else review.created_at, review.id)

    @property
    def is_done(self) -> bool:
        """Whether it was done when the list was read."""
        return self.position >= DONE_OFFSET


class RejectedCall(NamedTuple):
    """A call that people rejected, of the tool `tool`."""

    review_id: str
    key: str
    tool: str

    @property
    def member(self) -> str:
        """Its text in the list of its thread. None of its parts has a space."""
        return " ".join(self)

    @classmethod
    def from_member(cls, member: str) -> RejectedCall:
        return cls(*member.split(" "))


class ThreadState(NamedTuple):
    """What a submit must know of its thread, all from one moment, by the store's clock.

    - `rejected`: see `ReviewLists.rejected_calls`;
    - `has_live`: the thread has a review that is not done;
    - `has_review`: the review that the caller asked for is stored.
    """

    now: float
    rejected: list[RejectedCall]
    has_live: bool
    has_review: bool


class Workload(NamedTuple):
    """How much work there is: the number of reviews that are not done, when the oldest of them was submitted,
    and the earliest due time that has passed. None if there is none.
    """

    live: int
    oldest: float | None
    overdue: float | None


class WaitingPage(NamedTuple):
    """One page of the reviews that wait for some audiences: ids and times of submission. `total` is the
    number on all pages; it is a lower bound if one audience has more than 1,000.
    """

    reviews: list[tuple[str, float]]
    total: int


def is_decision_event(event: Event) -> bool:
    """Whether a person decided, voted or edited in this event."""
    return event.kind in ("voted", "edited", "decided", "resolved")


class ReviewLists(Protocol):
    """Reads only. The indexes are written by `commit`."""

    async def thread_ids(self, thread_id: str, limit: int = 100) -> list[str]:
        """The ids of the thread's first reviews, in the order of `ThreadReview`."""
        ...

    async def thread_reviews(
        self, thread_id: str, limit: int = 100, after: ThreadReview | None = None
    ) -> list[ThreadReview]:
        """The thread's reviews in their order. `after` is the last one of the page before. No page misses a
        review that becomes done meanwhile: it comes again. The cost of a page depends on its length, not on
        the number of reviews.
        """
        ...

    async def rejected_calls(self, agent: str, thread_id: str) -> list[RejectedCall]:
        """The calls of this agent in this thread that people rejected and that no later call replaced: the
        latest first, at most MAX_REJECTED. Some of their reviews may be deleted by now.
        """
        ...

    async def thread_state(self, agent: str, thread_id: str, review_id: str) -> ThreadState:
        """The state of the thread and of this review, in one step: every submit needs all of it."""
        ...

    async def find_ids(self, prefix: str, limit: int = 100, *, live: bool = False) -> list[str]:
        """The ids of at most `limit` reviews that begin with `prefix` (`is_id_prefix`), also of done ones. It
        scans the names of all keys in the Redis, or with `live` only the reviews of one partition that are
        not done; each command reads a bounded number. Meant for an operator's command.
        """
        ...

    async def live_ids(self, limit: int = 100) -> list[str]:
        """The ids of the oldest reviews that are not done."""
        ...

    async def live_reviews(
        self,
        limit: int = 100,
        after: LiveReview | None = None,
        missing: set[int] | None = None,
    ) -> list[LiveReview]:
        """The reviews that are not done, the oldest first. `after` is the last one of the page before. The
        cost of a page depends on its length, not on the number of reviews.
        """
        ...

    async def workload(self, missing: set[int] | None = None) -> Workload:
        """For metrics: cheap for any number of reviews."""
        ...

    async def waiting_reviews(
        self,
        audiences: Collection[str],
        limit: int = 100,
        offset: int = 0,
        missing: set[int] | None = None,
    ) -> WaitingPage:
        """The pending reviews that have at least one of these audiences, each once, the oldest first."""
        ...

    async def recent_decisions(
        self,
        reviewer: str,
        limit: int = 100,
        offset: int = 0,
        missing: set[int] | None = None,
    ) -> list[tuple[str, float]]:
        """The reviews in which this reviewer (by key) decided, voted or edited, with the time: the latest
        first, at most 200. Some of these reviews may be deleted by now.
        """
        ...

    async def due_reviews(self, limit: int = 100, missing: set[int] | None = None) -> list[str]:
        """The reviews that a bot must handle now. This only reads: nothing is claimed."""
        ...

    async def ready_reviews(
        self, agent: str, limit: int = 100, missing: set[int] | None = None
    ) -> list[str]:
        """The reviews of this agent that may be claimed now, the longest waiting first. This only reads."""
        ...
