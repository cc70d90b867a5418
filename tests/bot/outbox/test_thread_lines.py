"""A line in a thread that calls people is lost by no crash, and by no Redis or chat system that is away."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox.delivery import Delivery
from bot.outbox.lane import LATE_WINDOW, Lane
from bot.people.directory import Directory
from hitl_core import Gate
from hitl_core.errors import StoreUnavailable
from hitl_core.model import Place
from hitl_core.review import claims
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.client import read_text
from slack_sandbox.sandbox import Sandbox
from tests.support.builders import approve_all, call, policy
from tests.support.waiting import wait_until

HERE = Place("slack:C0APPROVE")
#: One call has its card here, and the other one comes here later.
RULES = {
    "it": {"notify": HERE, "remind": "15m"},
    "other": {"notify": "slack:#team-ops", "escalate": [{"after": "10m", "to": HERE}]},
}
IT = call("it", x=1)


class Stage:
    """One review with a card, and bots for its conversation."""

    def __init__(self, sandbox: Sandbox, channel: SlackChannel) -> None:
        self.now, self.sandbox, self._channels = time.time(), sandbox, Channels(channel)
        self.store = MemoryStore(lambda: self.now)
        self.reviews, self.health = Reviews(self.store), Health()

    async def show_card(self) -> None:
        calls = [IT, call("other", "c2", x=2)]
        gate = Gate(self.store, policy=policy(**RULES), agent="billing")
        self.review_id = await gate.submit(calls, thread_id="t-1")
        await self.bot()

    async def come_in_doubt(self) -> None:
        """The call is approved and began, and its process is gone."""
        await approve_all(self.reviews, self.review_id)
        async with Gate(self.store, policy=policy(**RULES), agent="billing") as gate:
            outcome = await gate.wait(self.review_id)
            assert await outcome.once(IT)
            outcome.release()
        await self.reviews.change(
            self.review_id, "die", lambda r, now: claims.expire_lease(r, now + 100)
        )

    async def escalate(self) -> None:
        self.now += 600.0
        await self.reviews.apply_due(self.review_id)

    async def bot(self) -> None:
        """A bot that holds the lane until nothing is left to do."""
        directory = Directory(self._channels)
        delivery = Delivery(self.reviews, self._channels, directory, health=self.health)
        work = delivery.run_job
        await Lane(HERE.conversation, self.store, work, self.health, LATE_WINDOW, 0.01).run()

    def count_posts(self) -> int:
        return sum(each["method"] == "chat.postMessage" for each in self.sandbox.api.calls)

    async def dying_bot(self) -> None:
        """A bot that dies after Slack was asked to post, which Slack never does, or limits."""
        before = self.count_posts()
        dead = asyncio.create_task(self.bot())
        await wait_until("it posts", lambda: self.count_posts() > before)
        await asyncio.sleep(0.05)
        dead.cancel()
        await asyncio.gather(dead, return_exceptions=True)
        self.sandbox.faults.configure({"mode": "ok"})
        self.now += 60.0

    def lines(self) -> list[str]:
        channel = self.sandbox.workspace.channels["C0APPROVE"]
        return [read_text(one.blocks) for one in channel.messages.values() if not one.metadata]


Event = Callable[[Stage], Awaitable[None]]
EVENTS = [
    pytest.param(Stage.come_in_doubt, "may or may not have run", id="doubt"),
    pytest.param(Stage.escalate, "please decide", id="escalation"),
]


@pytest.fixture
async def stage(sandbox: Sandbox, channel: SlackChannel) -> Stage:
    stage = Stage(sandbox, channel)
    await stage.show_card()
    return stage


@pytest.mark.parametrize(("happen", "text"), EVENTS)
@pytest.mark.parametrize("mode", ["hang", "ratelimited"])
async def test_a_bot_that_dies_loses_no_line_that_calls_people(
    stage: Stage, happen: Event, text: str, mode: str
) -> None:
    """Given a bot that died while it posted a line that calls people, or while it waited until Slack takes
    one; then the next bot posts it."""
    await happen(stage)
    stage.sandbox.faults.configure({"mode": mode, "method": "chat.postMessage", "retry_after": 30})
    await stage.dying_bot()
    assert stage.lines() == []

    await stage.bot()

    [line] = stage.lines()
    assert text in line


@pytest.mark.parametrize(("happen", "text"), EVENTS)
async def test_a_redis_that_is_away_loses_no_line_that_calls_people(
    stage: Stage, happen: Event, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a Redis that can't be reached when the bot asks whether it may post; then the line is posted when
    it is back."""
    await happen(stage)
    take, away = stage.store.take_slot, [True]

    async def take_slot(name: str, interval: float, burst: int) -> float:
        if name.startswith("post:") and away:
            away.pop()
            raise StoreUnavailable("away")
        return await take(name, interval, burst)

    monkeypatch.setattr(stage.store, "take_slot", take_slot)
    await stage.bot()

    [line] = stage.lines()
    assert text in line


@pytest.mark.parametrize(("happen", "text"), EVENTS)
@pytest.mark.parametrize("error", ["restricted_action", "invalid_blocks"])
async def test_a_refused_line_that_calls_people_is_told(
    stage: Stage, happen: Event, text: str, error: str
) -> None:
    """Given a channel where the bot may change its messages, but not post; when a line calls people there,
    then the review and the operators know that it can't be shown, and it is posted when that works again."""
    await happen(stage)
    body = json.dumps({"ok": False, "error": error})
    stage.sandbox.faults.configure({"mode": "answer", "method": "chat.postMessage", "body": body})
    await stage.bot()
    assert HERE in (await stage.reviews.load(stage.review_id)).review.delivery_problems
    assert stage.health.counts()["delivery"] or stage.health.counts()["place"]

    stage.sandbox.faults.configure({"mode": "ok"})
    await stage.store.requeue_dead_letters()
    await stage.bot()

    [line] = stage.lines()
    assert text in line
    assert not (await stage.reviews.load(stage.review_id)).review.delivery_problems


async def test_nobody_is_called_to_what_is_decided(stage: Stage) -> None:
    """Given an escalation whose line is not posted yet; when the call is decided, then the line says that it
    was escalated, and calls nobody."""
    await stage.escalate()
    await approve_all(stage.reviews, stage.review_id)
    await stage.bot()
    [line] = stage.lines()
    assert "escalated to" in line
    assert "please decide" not in line


async def test_a_doubt_is_told_again(stage: Stage) -> None:
    """Given a call in doubt whose rule reminds every 15 minutes; when that time is over and nobody answered,
    then its people are called once more."""
    await stage.come_in_doubt()
    await stage.bot()
    for count in (2, 3):
        stage.now += 20 * 60.0
        assert await stage.store.due_reviews(5) == [stage.review_id]
        await stage.reviews.apply_due(stage.review_id)
        await stage.bot()
        assert len(stage.lines()) == count
    assert all("may or may not have run" in line for line in stage.lines())
