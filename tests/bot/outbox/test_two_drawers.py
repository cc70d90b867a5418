"""Two bots draw one card: in whatever order Slack applies their calls, the card ends in the newest state."""

from __future__ import annotations

import asyncio
import time
from typing import Literal

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox.delivery import Delivery
from bot.outbox.lane import LATE_WINDOW, Lane
from bot.people.directory import Directory
from hitl_core.model import DEFAULT_PLACE
from hitl_core.review import Decide
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.client import read_text
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.web_api.faults import Fault
from tests.support.builders import call, person, policy, proposal, review_of
from tests.support.waiting import wait_until


class Stage:
    """One review that two must approve, so that it may be edited any number of times."""

    def __init__(self, sandbox: Sandbox, channel: SlackChannel) -> None:
        self.now = time.time()
        self.sandbox, self._channel = sandbox, channel
        self.store = MemoryStore(lambda: self.now)
        self.reviews = Reviews(self.store)
        self.review_id = ""

    async def submit(self) -> None:
        rule = {"reviewers": {"users": ["U0ALICE", "U0BOB"], "quorum": 2}}
        review, event = review_of([call("it", x=1)], by=policy(it=rule), now=self.now)
        await self.reviews.submit(review, event)
        self.review_id = review.id

    async def edit(self, x: int) -> None:
        revision = (await self.reviews.load(self.review_id)).review.actions[0].revision
        edited = proposal("edit", x=x)._replace(revision=revision)
        await self.reviews.apply(Decide(self.review_id, "1", edited, person(), f"edit:{x}"))

    async def bot(self) -> None:
        """A bot that holds the lane until nothing is left to do."""
        directory = Directory(Channels(self._channel))
        delivery = Delivery(self.reviews, Channels(self._channel), directory, Health())
        await Lane(DEFAULT_PLACE, self.store, delivery.run_job, Health(), LATE_WINDOW, 0.01).run()

    def cards(self) -> list[str]:
        messages = self.sandbox.workspace.channels["C0APPROVE"].messages.values()
        return [read_text(one.blocks) for one in messages if one.metadata and not one.deleted]

    def hold(self, method: str) -> Fault:
        held = self.sandbox.faults.configure({"mode": "late", "method": method, "times": 1})
        assert held is not None
        return held

    async def is_asked(self, method: str, count: int) -> None:
        def count_calls() -> int:
            return sum(call["method"] == method for call in self.sandbox.api.calls)

        await wait_until(f"{count} calls of {method}", lambda: count_calls() >= count)


@pytest.fixture
async def stage(sandbox: Sandbox, channel: SlackChannel) -> Stage:
    stage = Stage(sandbox, channel)
    await stage.submit()
    return stage


async def test_an_older_drawing_that_is_applied_last_is_drawn_over(stage: Stage) -> None:
    """Faults 1: given bot A whose drawing Slack applies only after B's newer one; when A has its answer, then
    the newest state is drawn again."""
    await stage.bot()
    await stage.edit(4711)
    held = stage.hold("chat.update")
    slow = asyncio.create_task(stage.bot())
    await stage.is_asked("chat.update", 1)
    await stage.edit(4712)
    await stage.bot()
    assert "4712" in stage.cards()[0]

    held.release()
    await slow

    [card] = stage.cards()
    assert "4712" in card


async def check_late_drawing(stage: Stage, asked: int) -> None:
    """A bot dies while it draws, as the update with this number; Slack applies it after the next bot's. Then
    the card is wrong until it is checked again, which needs no click.
    """
    held = stage.hold("chat.update")
    dead = asyncio.create_task(stage.bot())
    await stage.is_asked("chat.update", asked)
    dead.cancel()
    await asyncio.gather(dead, return_exceptions=True)
    await stage.edit(4712)
    await stage.bot()
    held.release()
    await wait_until("the old one is back", lambda: "4712" not in stage.cards()[0])

    stage.now += LATE_WINDOW + 1
    await stage.bot()

    [card] = stage.cards()
    assert "4712" in card


async def test_a_drawing_of_a_dead_bot_that_is_applied_late_is_drawn_over(stage: Stage) -> None:
    """Faults 1 and 2: given a bot that died while it drew, and whose drawing Slack applies after the next
    bot's; then the card is wrong until it is checked again, which needs no click."""
    await stage.bot()
    await stage.edit(4711)
    await check_late_drawing(stage, asked=1)


@pytest.mark.parametrize("kind", ["card", "check", "stray"])
async def test_a_late_drawing_of_any_job_is_drawn_over(
    stage: Stage, kind: Literal["card", "check", "stray"]
) -> None:
    """Given a bot that died while it drew, because of a change, of a check, or of a press on an older card,
    and whose drawing Slack applies after the next bot's; then the card is checked again by itself."""
    await stage.bot()
    await stage.edit(4711)
    await stage.bot()
    [ref] = (await stage.reviews.load(stage.review_id)).posts.values()
    drawn = sum(call["method"] == "chat.update" for call in stage.sandbox.api.calls)
    note = ref.model_dump_json() if kind == "stray" else ""
    if kind == "card":
        await stage.edit(4710)
    else:
        await stage.store.redraw(stage.review_id, DEFAULT_PLACE, kind, note)
    await check_late_drawing(stage, asked=drawn + 1)


async def test_a_post_of_a_dead_bot_that_is_applied_late_is_deleted(stage: Stage) -> None:
    """Faults 2: given a bot that died while it posted, and whose post Slack applies after the next bot's;
    then there are two cards with live buttons, until the one that isn't noted is deleted."""
    held = stage.hold("chat.postMessage")
    dead = asyncio.create_task(stage.bot())
    await stage.is_asked("chat.postMessage", 1)
    dead.cancel()
    await asyncio.gather(dead, return_exceptions=True)
    await stage.bot()
    held.release()
    await wait_until("two cards", lambda: len(stage.cards()) == 2)

    stage.now += LATE_WINDOW + 1
    await stage.bot()

    assert len(stage.cards()) == 1
    [ref] = (await stage.reviews.load(stage.review_id)).posts.values()
    assert ref.ts in stage.sandbox.workspace.channels["C0APPROVE"].messages
