"""A card that always fails doesn't block others: it is tried later, and reported until it works."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from bot.channels.contract import Unreachable
from bot.health.health import Health
from bot.outbox import outbox as outboxes
from bot.outbox.lane import LATE_WINDOW, AsideJobs, Lane, aside_jobs
from bot.outbox.lane import lane as lanes
from bot.outbox.outbox import Outbox
from hitl_core.model import DEFAULT_PLACE
from hitl_core.review.service import Reviews
from hitl_core.store import Job, MemoryStore
from tests.support.builders import call, policy, review_of
from tests.support.waiting import wait_until


class Slack:
    """The edge of the network: it takes every card but some."""

    waiting = 0

    def __init__(self) -> None:
        self.broken = set[str]()
        self.shown: list[str] = []
        #: The reviews of the tries that failed.
        self.tries: list[str] = []

    async def run_job(self, job: Job, *, again: bool) -> None:
        if job.review_id in self.broken or job.place in self.broken:
            self.tries.append(job.review_id)
            raise Unreachable("internal_error")
        self.shown.append(job.review_id)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "MAX_PAUSE", 0.01)
    monkeypatch.setattr(aside_jobs, "FIRST_ASIDE", 0.05)
    monkeypatch.setattr(aside_jobs, "MAX_ASIDE", 0.1)


async def submit(reviews: Reviews, place: str = DEFAULT_PLACE, ago: float = 0) -> str:
    rule: dict[str, Any] = {} if place == DEFAULT_PLACE else {"notify": place}
    review, event = review_of([call("it")], by=policy(it=rule), now=time.time() - ago)
    await reviews.submit(review, event)
    return review.id


async def test_a_card_that_fails_each_time_does_not_block_others() -> None:
    """Given a card that Slack answers with an error each time; then those behind it are shown, it is
    reported, and shown and over when Slack takes it."""
    slack, health, reviews = Slack(), Health(), Reviews(MemoryStore(time.time))
    first = await submit(reviews)
    later = [await submit(reviews) for _ in range(3)]
    slack.broken.add(first)
    lane = Lane(DEFAULT_PLACE, reviews.store, slack.run_job, health, LATE_WINDOW, 0.5)
    running = asyncio.create_task(lane.run())
    await wait_until("the others are shown", lambda: slack.shown == later)
    [problem] = health.current_problems()
    assert (problem.kind, problem.subject) == ("delivery", f"{first} at {DEFAULT_PLACE}")

    slack.broken.clear()
    await wait_until("it is shown as well", lambda: slack.shown == [*later, first])
    await running
    assert health.current_problems() == ()


async def test_poison_becomes_a_dead_letter_and_costs_the_others_little() -> None:
    """Fault W4: given two cards that Slack never takes, among others: they get a bounded number of tries,
    then they are dead letters with the reason; the others are shown in order; and the next try of a dead
    letter is one."""
    slack, reviews = Slack(), Reviews(MemoryStore(time.time))
    ids = [await submit(reviews, ago=100 - n) for n in range(40)]
    slack.broken |= {ids[0], ids[4]}
    aside = AsideJobs()
    lane = Lane(DEFAULT_PLACE, reviews.store, slack.run_job, Health(), LATE_WINDOW, 0.05, aside)
    await lane.run()

    assert slack.shown == [each for each in ids if each not in slack.broken]
    letters = await reviews.store.dead_letters()
    assert {letter.review_id for letter in letters} == slack.broken
    assert all("failed 5 times" in one.why and "internal_error" in one.why for one in letters)
    assert len(slack.tries) < 30  # of 38 cards that were shown, not one each time

    slack.tries.clear()
    await reviews.store.requeue_dead_letters()
    again = Lane(DEFAULT_PLACE, reviews.store, slack.run_job, Health(), LATE_WINDOW, 0.05, aside)
    await again.run()
    assert sorted(slack.tries) == sorted(slack.broken)
    assert await reviews.store.count_dead_letters() == 2


async def test_nothing_is_given_up_while_nothing_works() -> None:
    """Given a Slack that takes nothing for a long time, then no card is a dead letter, and all are shown when
    it works again."""
    slack, reviews = Slack(), Reviews(MemoryStore(time.time))
    ids = [await submit(reviews) for _ in range(3)]
    slack.broken |= set(ids)
    lane = Lane(DEFAULT_PLACE, reviews.store, slack.run_job, Health(), LATE_WINDOW, 0.2)
    running = asyncio.create_task(lane.run())
    await wait_until("it was tried often", lambda: len(slack.tries) > 40)
    assert await reviews.store.count_dead_letters() == 0
    slack.broken.clear()
    await wait_until("all are shown", lambda: sorted(slack.shown) == sorted(ids))
    await running


async def test_lanes_that_make_no_progress_leave_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given fewer places than conversations that fail; then a card of another conversation is shown."""
    monkeypatch.setattr(outboxes, "MAX_LANES", 3)
    slack, reviews = Slack(), Reviews(MemoryStore(time.time))
    for number in range(9):
        place = f"slack:U0{number}"
        slack.broken.add(place)
        await submit(reviews, place)
    delivery: Any = slack
    outbox = Outbox(reviews, delivery, lane_lease=0.4, health=Health())
    running = asyncio.create_task(outbox.run())
    await wait_until("all places are taken", lambda: len(outbox.lanes) == 3)
    wanted = await submit(reviews)
    await wait_until("it is shown", lambda: slack.shown == [wanted], 20)

    slack.broken.clear()
    await wait_until("all are shown", lambda: len(slack.shown) == 10, 20)
    await outbox.drain()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
