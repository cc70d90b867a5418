"""Dead letters: the jobs that could not be done, with the reason."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from hitl_core.store.contract.jobs import Job, Recheck


class DeadLetter(NamedTuple):
    """A job that can't be done: `why` is the reason, `at` the time at which it was given up. `member` is the
    job's text in the queue of `lane`. `id` is `<partition>:<milliseconds>-<number>`.
    """

    id: str
    at: float
    review_id: str
    lane: str
    member: str
    why: str


class DeadLetters(Protocol):
    async def move_to_dead_letters(self, job: Job, why: str, check: Recheck | None = None) -> None:
        """Move a job that can't be done to the dead letters. A `check` is queued after its delay, if it has
        one. If the job was added again meanwhile, it stays in its queue and counts as one with an earlier
        attempt at `first_at`: that attempt may have posted a message. For the same reason, each new `card`
        job of a review with dead letters counts as one with an earlier attempt.
        """
        ...

    async def count_dead_letters(self, missing: set[int] | None = None) -> int:
        """How many reviews have dead letters. Several dead letters of one review count as one."""
        ...

    async def dead_letters(self, limit: int = 1000) -> list[DeadLetter]:
        """The oldest first; at most `limit`."""
        ...

    async def dead_letter(self, id: str) -> DeadLetter | None:
        """The dead letter with this id; None if there is none, or if the text is not an id."""
        ...

    async def requeue_dead_letter(self, letter: DeadLetter) -> bool:
        """Put the letter back into its queue, as a job with one earlier attempt. False if it is gone."""
        ...

    async def drop_dead_letter(self, letter: DeadLetter) -> bool:
        """Delete the letter and its job. False if it is no longer there."""
        ...

    async def requeue_dead_letters(self, missing: set[int] | None = None) -> int:
        """Put all dead letters back into their queues, as jobs with one earlier attempt. Returns the number
        of their reviews.
        """
        ...
