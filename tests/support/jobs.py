"""Takes jobs from the store, as a bot does."""

from __future__ import annotations

from hitl_core.store import Job, Store
from tests.support.waiting import wait_until


async def begin_all(store: Store) -> list[Job]:
    """Starts the first job of each half of each lane, and returns these jobs."""
    begun = [
        await store.take_job(lane, half)
        for lane in await store.lanes()
        for half in ("post", "draw")
    ]
    return [job for job in begun if job is not None]


async def finish_all(store: Store) -> list[Job]:
    """Starts and finishes all jobs that are due now, and returns them."""
    done: list[Job] = []
    while jobs := await begin_all(store):
        for job in jobs:
            await store.finish_job(job)
        done += jobs
    return done


async def next_job(store: Store) -> Job:
    """Waits for a job, starts and finishes it, and returns it."""

    async def first() -> Job | None:
        return next(iter(await begin_all(store)), None)

    job: Job = await wait_until("there is a job", first)
    await store.finish_job(job)
    return job
