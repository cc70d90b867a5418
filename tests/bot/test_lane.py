"""A lane reports a card that makes no progress."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox import failing_jobs
from bot.outbox.delivery import Delivery
from bot.outbox.lane import LATE_WINDOW, Lane
from bot.people.directory import Directory
from hitl_core.model import DEFAULT_PLACE
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
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
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)))
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
