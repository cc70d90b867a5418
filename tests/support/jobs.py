"""What the bots have to show, read as a bot does."""

from __future__ import annotations

from hitl_core.store import Job, Store
from tests.support.waiting import wait_until


async def begin_all(store: Store) -> list[Job]:
    """The first job of each half of each lane, begun."""
    begun = [
        await store.take_job(lane, half)
        for lane in await store.lanes()
        for half in ("post", "draw")
    ]
    return [job for job in begun if job is not None]


async def finish_all(store: Store) -> list[Job]:
    """All that is to be done now, begun and finished."""
    done: list[Job] = []
    while jobs := await begin_all(store):
        for job in jobs:
            await store.finish_job(job)
        done += jobs
    return done


async def next_job(store: Store) -> Job:
    """The first thing that there is to do, begun and finished."""

    async def first() -> Job | None:
        return next(iter(await begin_all(store)), None)

    job: Job = await wait_until("there is something to do", first)
    await store.finish_job(job)
    return job
