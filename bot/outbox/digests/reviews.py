"""The reviews of digests: checks which ones may be in a digest, and loads them."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256

from hitl_core.errors import ReviewNotFound, StoreError
from hitl_core.model import Place, Review, Snapshot
from hitl_core.review import Reviews, deadline, next_step_at, open_items, pending_actions
from hitl_core.tasks import task_group

from ...card import was_escalated_again

log = logging.getLogger(__name__)

#: How many reviews are loaded at the same time. Few, because one can take 50 ms, and clicks wait for that.
CONCURRENCY = 4


def is_plain(snapshot: Snapshot, place: Place) -> bool:
    """Whether a digest may show the waiting part of this review: it has only pending actions, for the people
    whom the agent asked, and no problem; and nobody was called there later. A failed look-up is no problem of
    the review: all of the digest have it, and the digest shows it.
    """
    review = snapshot.review
    has_problem = any(
        at != place or not it.is_unknown for at, it in review.delivery_problems.items()
    )
    is_special = snapshot.held or has_problem or was_escalated_again(review, place)
    return not is_special and all(
        item.action is not None and not item.action.earlier for item in open_items(review, place)
    )


def people_of(review: Review, place: Place) -> str:
    """A hash of the people who may decide on what waits at this place."""
    actions = pending_actions(review, place)
    grants = sorted({repr(grant) for action in actions for grant in action.grants})
    return sha256("\n".join(grants).encode()).hexdigest()[:32]


def first_due(review: Review, place: Place, now: float) -> float:
    """When the first waiting action at this place escalates or expires; infinity if none does. If a clock
    starts with the message, it counts from now.
    """
    times = [math.inf]
    for action in pending_actions(review, place):
        if action.clock_start is None:
            action = action.model_copy(update={"delivered_at": now})
        times += [at for at in (deadline(action), next_step_at(action)) if at is not None]
    return min(times)


async def read_outlines(
    reviews: Reviews, ids: Iterable[str], read: Callable[[Snapshot], object]
) -> set[str]:
    """Call `read` with the outline of each review that still exists. No review is kept in memory after that,
    because an agent chooses their number and size. Returns the ids of those that can't be read: a newer
    version wrote them, or they are damaged.
    """
    unreadable = set[str]()

    async def load(review_id: str) -> None:
        try:
            read(await reviews.load_outline(review_id))
        except ReviewNotFound:
            return
        except StoreError as error:
            log.error("review %s can't be read: %s", review_id, error)
            unreadable.add(review_id)

    await for_each(ids, load)
    return unreadable


async def for_each(ids: Iterable[str], work: Callable[[str], Awaitable[None]]) -> None:
    limit = asyncio.Semaphore(CONCURRENCY)

    async def run(one: str) -> None:
        async with limit:
            await work(one)

    async with task_group() as tasks:
        for one in ids:
            tasks.create_task(run(one))
