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
from tests.support.builders import call, policy, review_of
from tests.support.waiting import wait_until


async def test_what_waits_for_a_look_up_is_tried_again_soon(
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


async def test_promise_11_more_conversations_than_a_bot_works_on_are_told(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a bot that works on one conversation at a time, Slack that gives no answer, and cards for two;
    then people are told that one waits for the other, until Slack answers and both have their card."""
    monkeypatch.setattr(outboxes, "MAX_LANES", 1)
    monkeypatch.setattr(outboxes, "REPORT_AFTER", 0.0)
    health, reviews = Health(), Reviews(MemoryStore())
    client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
    channel = SlackChannel(client, "#agent-approvals", health)
    await channel.start()
    sandbox.faults.configure({"mode": "http_500", "method": "chat.postMessage"})
    places = policy(ask={"notify": "slack:#agent-approvals"}, other={"notify": "slack:#team-ops"})
    ids = list[str]()
    for name in ("ask", "other"):
        review, event = review_of([call(name)], by=places, now=time.time() - 1)
        await reviews.submit(review, event)
        ids.append(review.id)
    channels = Channels(channel)
    delivery = Delivery(reviews, channels, Directory(channels), health)
    outbox = Outbox(reviews, delivery, health, lane_lease=0.4)
    running = asyncio.create_task(outbox.run())

    await wait_until("it is told", lambda: health.has("delivery", "conversations"))
    sandbox.faults.configure({"mode": "ok"})

    async def are_shown() -> bool:
        return all([(await reviews.load(one)).posts for one in ids])

    await wait_until("both are shown", are_shown, 60)
    await wait_until("it is over", lambda: not health.has("delivery", "conversations"))
    await outbox.drain()
    running.cancel()
