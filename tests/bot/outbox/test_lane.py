"""A lane reports a card that makes no progress."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence

import pytest

from bot.channels.contract import Unreachable
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox import outbox as outboxes
from bot.outbox.delivery import Delivery
from bot.outbox.lane import LATE_WINDOW, Lane, aside_jobs, failing_jobs
from bot.outbox.outbox import Outbox
from bot.people.directory import Directory
from hitl_core.errors import StoreError
from hitl_core.model import DEFAULT_PLACE
from hitl_core.review.service import Reviews
from hitl_core.store import Job, MemoryStore, Recheck, lane_failure
from hitl_core.store.redis.connection import WrongType
from slack_sandbox.sandbox import Sandbox
from tests.support.builders import review_of
from tests.support.waiting import wait_until


async def test_a_card_without_progress_is_reported_until_it_is_shown(
    sandbox: Sandbox, channel: SlackChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 4, class 8: given a Slack that takes no post; then the health names the review, its place and
    why; when Slack takes it, then that is over."""
    monkeypatch.setattr(failing_jobs, "REPORT_AFTER", 0.0)
    health, reviews = Health(), Reviews(MemoryStore())
    review, event = review_of(now=time.time())
    await reviews.submit(review, event)
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    lane = Lane(DEFAULT_PLACE, reviews.store, delivery.run_job, health, LATE_WINDOW, 0.01)
    sandbox.faults.configure({"mode": "http_500", "method": "chat.postMessage"})
    running = asyncio.create_task(lane.run())

    def is_reported() -> bool:
        lane.report()
        return any("HTTP 500" in problem.text for problem in health.current_problems())

    await wait_until("it is reported", is_reported)
    [problem] = health.current_problems()
    assert (problem.kind, problem.subject) == ("delivery", f"{review.id} at {DEFAULT_PLACE}")

    sandbox.faults.configure({"mode": "ok"})
    await running
    assert health.current_problems() == ()


async def test_a_check_of_a_card_that_is_not_there_does_not_end_its_problem(
    sandbox: Sandbox, channel: SlackChannel
) -> None:
    """Given a card that Slack refuses for a reason that says nothing about the place; when the check that
    follows finds nothing to do, then the card is still a problem, until it is shown."""
    health, reviews = Health(), Reviews(MemoryStore())
    review, event = review_of(now=time.time())
    await reviews.submit(review, event)
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    lane = Lane(DEFAULT_PLACE, reviews.store, delivery.run_job, health, 0.0, 0.01)
    refusal = json.dumps({"ok": False, "error": "some_new_error"})
    sandbox.faults.configure({"mode": "answer", "method": "chat.postMessage", "body": refusal})
    await lane.run()
    await reviews.store.redraw(review.id, DEFAULT_PLACE, "check")
    await lane.run()
    [problem] = health.current_problems()
    assert "some_new_error" in problem.text

    sandbox.faults.configure({"mode": "ok"})
    await reviews.store.requeue_dead_letters(set())
    await lane.run()
    assert health.current_problems() == ()


async def test_the_problem_of_a_check_ends_with_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a check that makes no progress; then that is a problem, until the check is done."""
    monkeypatch.setattr(failing_jobs, "REPORT_AFTER", 0.0)
    store, health, works = MemoryStore(), Health(), asyncio.Event()
    review, event = review_of(now=time.time())
    await Reviews(store).submit(review, event)

    async def send(job: Job, *, again: bool) -> None:
        if job.kind == "check" and not works.is_set():
            raise Unreachable("Slack is away")

    lane = Lane(DEFAULT_PLACE, store, send, health, LATE_WINDOW, 0.01)
    await lane.run()
    await store.redraw(review.id, DEFAULT_PLACE, "check")
    running = asyncio.create_task(lane.run())

    def is_reported() -> bool:
        lane.report()
        return any("Slack is away" in problem.text for problem in health.current_problems())

    await wait_until("it is reported", is_reported)
    works.set()
    await running
    assert health.current_problems() == ()


async def test_why_the_cards_of_a_lane_wait_can_be_read_by_everybody(
    sandbox: Sandbox, channel: SlackChannel
) -> None:
    """Given a Slack that takes no post; when the first card is set aside; then the store has the reason, for
    the command line."""
    reviews = Reviews(MemoryStore())
    review, event = review_of(now=time.time())
    await reviews.submit(review, event)
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    lane = Lane(DEFAULT_PLACE, reviews.store, delivery.run_job, Health(), LATE_WINDOW, 0.01)
    sandbox.faults.configure({"mode": "http_500", "method": "chat.postMessage"})
    running = asyncio.create_task(lane.run())

    async def find_why() -> str:
        failure = await lane_failure(reviews.store, DEFAULT_PLACE)
        return failure.why if failure else ""

    assert "HTTP 500" in await wait_until("it is there", find_why)
    lane.drain()
    await running


async def test_that_the_cards_of_a_lane_wait_for_the_rate_limit_can_be_read_by_everybody(
    sandbox: Sandbox, channel: SlackChannel
) -> None:
    """Given a Slack that limits the rate; when it refuses the first post; then the store has the reason."""
    reviews = Reviews(MemoryStore())
    review, event = review_of(now=time.time())
    await reviews.submit(review, event)
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    lane = Lane(DEFAULT_PLACE, reviews.store, delivery.run_job, Health(), LATE_WINDOW, 0.01)
    sandbox.faults.configure({"mode": "ratelimited", "method": "chat.postMessage", "times": 1})
    await lane.run()
    failure = await lane_failure(reviews.store, DEFAULT_PLACE)
    assert failure is not None
    assert "the rate is limited" in failure.why


class Refusing(MemoryStore):
    """A store that refuses what a bot needs, as a Redis without a permission does."""

    refuses = True

    async def finish_job(self, job: Job, check: Recheck | None = None) -> bool:
        if self.refuses:
            raise StoreError("Redis refused")
        return await super().finish_job(job, check)

    async def hold_lanes(
        self, lanes: Sequence[str], bot: str, ttl: float, unknown: set[str] | None = None
    ) -> set[str]:
        if self.refuses:
            raise StoreError("Redis refused")
        return await super().hold_lanes(lanes, bot, ttl, unknown)


@pytest.mark.parametrize("error", [StoreError, WrongType])
async def test_a_card_waits_for_a_store_that_refuses_a_command(
    monkeypatch: pytest.MonkeyPatch, error: type[StoreError]
) -> None:
    """Given a Redis that refuses what the card needs, as without a command, or with a damaged audit; then
    that is told, and the card waits and is no dead letter; when Redis takes it, then it is shown."""
    monkeypatch.setattr(aside_jobs, "FIRST_ASIDE", 0.02)
    store, health, refuses = MemoryStore(), Health(), True
    review, event = review_of(now=time.time())
    await Reviews(store).submit(review, event)

    async def send(job: Job, *, again: bool) -> None:
        if refuses:
            raise error("Redis refuses a command")

    lane = Lane(DEFAULT_PLACE, store, send, health, LATE_WINDOW, 0.01)
    await lane.run()
    [problem] = health.current_problems()
    assert "Redis refuses a command" in problem.text
    assert await store.count_dead_letters() == 0
    refuses = False

    async def is_shown() -> bool:
        await lane.run()
        return health.current_problems() == ()

    await wait_until("it is shown", is_shown)
    assert await store.count_dead_letters() == 0


async def do_nothing(job: Job, *, again: bool) -> None:
    """A card that can be shown at once."""


async def test_a_job_that_can_not_be_recorded_is_stuck_until_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a job that is done, and which Redis refuses to record for longer than a pause between two tries;
    then it is reported; when it is recorded, then it is no longer reported."""
    store, health = Refusing(), Health()
    await Reviews(store).submit(*review_of(now=time.time()))
    lane = Lane(DEFAULT_PLACE, store, do_nothing, health, LATE_WINDOW, 0.01)
    noted = list[float]()
    monkeypatch.setattr(lane._stuck, "note", lambda half, job, since, why: noted.append(since))
    running = asyncio.create_task(lane.run())
    await wait_until("it is tried again", lambda: noted.count(noted[-1]) > 1 if noted else False)
    monkeypatch.undo()
    monkeypatch.setattr(failing_jobs, "REPORT_AFTER", 0.0)

    def is_reported() -> bool:
        lane.report()
        return any("Redis refused" in problem.text for problem in health.current_problems())

    await wait_until("it is reported", is_reported)
    store.refuses = False
    await running
    lane.report()
    assert health.current_problems() == ()


async def test_lanes_that_can_not_be_held_are_told(channel: SlackChannel) -> None:
    """Given a Redis that lets no bot hold a lane; then it is told, until it works."""
    store, health = Refusing(), Health()
    reviews = Reviews(store)
    await reviews.submit(*review_of(now=time.time()))
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    outbox = Outbox(reviews, delivery, health, lane_lease=0.2)
    running = asyncio.create_task(outbox.run())
    await wait_until("it is told", health.current_problems)
    store.refuses = False
    await wait_until("it is over", lambda: not health.current_problems())
    await outbox.drain()
    running.cancel()


async def test_the_end_of_a_bot_waits_until_its_lanes_are_released(
    channel: SlackChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a bot that ends while it releases a lane, then its end waits: the store is closed after it."""
    monkeypatch.setattr(outboxes, "DRAIN_TIMEOUT", 0.0)
    begun, go, released = asyncio.Event(), asyncio.Event(), list[str]()

    class Slow(MemoryStore):
        async def release_lane(self, lane: str, bot: str) -> None:
            begun.set()
            await go.wait()
            released.append(lane)

    reviews = Reviews(Slow())
    await reviews.submit(*review_of(now=time.time()))
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    outbox = Outbox(reviews, delivery, Health(), lane_lease=0.2)
    running = asyncio.create_task(outbox.run())
    await begun.wait()
    asyncio.get_running_loop().call_later(0.1, go.set)
    await outbox.drain()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert released
