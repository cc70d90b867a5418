"""The lanes: one queue of jobs for each conversation, held by one bot at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from hitl_core.model import Place
from hitl_core.store.contract.jobs import Backlog, Job, LaneHalf, Recheck, RedrawKind


class Lanes(Protocol):
    """Jobs are added by `commit`, by `redraw` and by `finish_job`."""

    async def lanes(
        self, limit: int = 100, *, later: bool = False, missing: set[int] | None = None
    ) -> list[str]:
        """The lanes that have a job to do now, the longest waiting first. `later`: then also those that have
        one later.
        """
        ...

    async def hold_lanes(
        self, lanes: Sequence[str], bot: str, ttl: float, unknown: set[str] | None = None
    ) -> set[str]:
        """Hold these lanes for `ttl` seconds. Returns the lanes that this bot holds now, without those that
        another bot holds. `unknown`: the lanes of which a missing server knows who holds them are added to
        it, and are not in the answer; without it, such a lane raises StoreUnavailable.
        """
        ...

    async def release_lane(self, lane: str, bot: str) -> None:
        """Stop holding the lane, so that another bot can hold it."""
        ...

    async def take_job(self, lane: str, half: LaneHalf, skip: Collection[str] = ()) -> Job | None:
        """Start the first job of this half; None if no job is due now. The job stays in the queue until it is
        finished: if it is taken again before that, it is the same job with one more attempt. Jobs whose
        members are in `skip` are not taken, nor those of a partition that is missing now.
        """
        ...

    async def finish_job(self, job: Job, check: Recheck | None = None) -> bool:
        """Finish the job. If the card changed meanwhile, its job stays in the queue. False if another bot has
        started a job of this card since: then nobody knows which message update came last, so `check` is
        queued at once.

        A `check` with a delay is also queued after it. An earlier check does not replace it. Of several later
        checks, the last time and the earliest note count.
        """
        ...

    async def put_back_job(self, job: Job) -> None:
        """Give back an unfinished job, because the bot shuts down. Its attempts then count as one."""
        ...

    async def redraw(
        self,
        review_id: str,
        place: Place,
        kind: RedrawKind = "check",
        note: str = "",
        *,
        delay: float = 0.0,
    ) -> None:
        """Queue a job for this card or digest, the same job only once. With a `delay`, in seconds, it is due
        later; one that is due now is not replaced by it. Of two later ones the later time counts for a
        check, and the earlier one for a card or digest. Does nothing if there is no such review.
        """
        ...

    async def backlog(self, missing: set[int] | None = None) -> Backlog:
        """For metrics: cheap for any number of jobs."""
        ...
