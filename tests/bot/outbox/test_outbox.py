"""Cards that could not be delivered are tried again."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox import outbox as outboxes
from bot.outbox.delivery import Delivery
from bot.outbox.outbox import Outbox
from bot.people.directory import Directory
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from tests.support.builders import review_of
from tests.support.waiting import wait_until


async def test_h2_what_waits_for_a_look_up_is_tried_again_soon(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given cards that are tried again every hour, and one whose look-up fails; when Slack answers again,
    then it is tried again long before the hour is over."""
    monkeypatch.setattr(outboxes, "FIRST_REQUEUE", 0.01)
    health, reviews = Health(), Reviews(MemoryStore())
    client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
    channel = SlackChannel(client, "#agent-approvals", health)
    await channel.start()
    body = json.dumps({"ok": False, "error": "some_new_error"})
    sandbox.faults.configure({"mode": "answer", "method": "conversations.members", "body": body})
    review, event = review_of(now=time.time())
    await reviews.submit(review, event)
    directory = Directory(Channels(channel))
    delivery = Delivery(reviews, Channels(channel), directory, health)
    outbox = Outbox(reviews, delivery, health, lane_lease=0.4, requeue_interval=3600.0)
    running = asyncio.create_task(outbox.run())

    async def is_noted() -> bool:
        return "default" in (await reviews.load(review.id)).review.delivery_problems

    async def is_over() -> bool:
        return not await is_noted()

    await wait_until("it is noted that it is not known", is_noted)
    sandbox.faults.configure({"mode": "ok"})
    await wait_until("it is tried again", is_over)
    await outbox.drain()
    running.cancel()
