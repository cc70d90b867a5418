"""A chat system applies a post very late, when everything is decided: nobody sees buttons for a decided
action.
"""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox.delivery import Delivery
from bot.outbox.digests import DigestMaker
from bot.outbox.lane import LATE_WINDOW, Lane
from bot.people.directory import Directory
from hitl_core.model import Place
from hitl_core.review import Cancel
from hitl_core.review.delivery_problems import record_delivery_problem
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.client import read_text
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.web_api.faults import Fault
from tests.support.builders import call, policy, review_of
from tests.support.waiting import wait_until


class Stage:
    """One place and a bot for it, which takes more than two cards into a digest."""

    def __init__(self, sandbox: Sandbox, channel: SlackChannel, place: str) -> None:
        self.now, self.sandbox, self._place = time.time(), sandbox, Place(place)
        self.store = MemoryStore(lambda: self.now)
        self.reviews, self._channels = Reviews(self.store), Channels(channel)
        self._digests = DigestMaker(self.reviews, self._channels, Health(), 2)

    async def submit(self) -> str:
        by = policy(it={"notify": self._place})
        review, event = review_of([call("it", x=1)], by=by, now=self.now)
        await self.reviews.submit(review, event)
        return review.id

    async def bot(self) -> None:
        """A bot that holds the lane until nothing is left to do."""
        delivery = Delivery(self.reviews, self._channels, Directory(self._channels), Health())
        work, name = delivery.run_job, self._place.conversation
        lane = Lane(
            name, self.store, work, Health(), LATE_WINDOW, 0.01, gather=self._digests.gather
        )
        await lane.run()

    async def dying_bot(self) -> Fault:
        """A bot that dies while it posts. Slack applies the post when it is released."""
        before = self._count_posts()
        fault = {"mode": "late", "method": "chat.postMessage", "times": 1}
        held = self.sandbox.faults.configure(fault)
        assert held is not None
        dead = asyncio.create_task(self.bot())

        await wait_until("it posts", lambda: self._count_posts() > before)
        dead.cancel()
        await asyncio.gather(dead, return_exceptions=True)
        return held

    def _count_posts(self) -> int:
        return sum(each["method"] == "chat.postMessage" for each in self.sandbox.api.calls)

    def cards(self) -> list[str]:
        rooms = self.sandbox.workspace.channels.values()
        every = [one for room in rooms for one in room.messages.values()]
        return [read_text(one.blocks) for one in every if one.metadata and not one.deleted]


@pytest.mark.parametrize("place", ["slack:C0APPROVE", "slack:U0DANA", "slack:S0OPS"])
@pytest.mark.parametrize("count", [1, 6], ids=["card", "digest"])
async def test_a_post_that_is_applied_after_its_review_shows_that_it_is_over(
    sandbox: Sandbox, channel: SlackChannel, place: str, count: int
) -> None:
    """Given a bot that died while it posted a card or a digest, whose reviews are cancelled then; when Slack
    applies the post nevertheless, then it soon says that they are over, and asks nobody any more."""
    stage = Stage(sandbox, channel, place)
    ids = [await stage.submit() for _ in range(count)]
    held = await stage.dying_bot()
    for number, review_id in enumerate(ids):
        await stage.reviews.apply(Cancel(review_id, None, f"cancel:{number}"))
    await stage.bot()
    assert stage.cards() == []

    held.release()
    await wait_until("it is there", stage.cards)
    stage.now += LATE_WINDOW + 1
    await stage.bot()

    [card] = stage.cards()
    assert "cancelled" in card or "waits here any more" in card
    assert "Approve" not in card
    assert "Review one by one" not in card


@pytest.mark.parametrize("place", ["slack:C0APPROVE", "slack:U0DANA"])
@pytest.mark.parametrize("count", [1, 6], ids=["card", "digest"])
async def test_a_card_that_was_posted_again_is_there_once(
    sandbox: Sandbox, channel: SlackChannel, place: str, count: int
) -> None:
    """Given a card or a digest that a person deleted, and a bot that died while it posted it again; when
    Slack applies that post after the next bot's, then the one that isn't noted is deleted soon."""
    stage = Stage(sandbox, channel, place)
    ids = [await stage.submit() for _ in range(count)]
    await stage.bot()
    [ref] = set((await stage.reviews.load(ids[0])).posts.values())
    sandbox.workspace.channels[ref.conversation].messages[ref.ts].deleted = True
    if count == 1:
        await stage.store.redraw(ids[0], Place(place))
    else:
        await stage.reviews.apply(Cancel(ids[0], None, "cancel"))
    held = await stage.dying_bot()
    await stage.bot()
    assert len(stage.cards()) == 1
    held.release()
    await wait_until("two cards", lambda: len(stage.cards()) == 2)

    stage.now += LATE_WINDOW + 1
    await stage.bot()

    assert len(stage.cards()) == 1
    [ref] = set((await stage.reviews.load(ids[-1])).posts.values())
    assert not sandbox.workspace.channels[ref.conversation].messages[ref.ts].deleted


@pytest.mark.parametrize("ends", [True, False])
async def test_a_first_card_after_a_digest_is_there_once(
    sandbox: Sandbox, channel: SlackChannel, ends: bool
) -> None:
    """Given a review that left its digest because of a problem, and a bot that died while it posted its first
    card, which Slack applies late; then there is one card at the end, and one that says so if the review is
    over: there were two, or one that asked people without end."""
    place = Place("slack:C0APPROVE")
    stage = Stage(sandbox, channel, place)
    review_id, *_ = [await stage.submit() for _ in range(6)]
    await stage.bot()
    await stage.reviews.change(
        review_id, "problem", lambda r, now: record_delivery_problem(r, place, "gone", now)
    )
    held = await stage.dying_bot()
    if ends:
        await stage.reviews.apply(Cancel(review_id, None, "cancel"))
    await stage.bot()
    held.release()
    await wait_until("it is there", lambda: len(stage.cards()) == (2 if ends else 3))

    stage.now += LATE_WINDOW + 1
    await stage.bot()

    [card] = [one for one in stage.cards() if "6 reviews wait" not in one]
    assert ("cancelled" in card) == ends


MISSING = json.dumps({"ok": False, "error": "missing_scope", "needed": "channels:history"})
NO_SEARCH = {"mode": "answer", "method": "conversations.history", "body": MISSING}


@pytest.mark.parametrize("count", [1, 6], ids=["card", "digest"])
async def test_a_duplicate_that_can_not_be_looked_for_is_deleted_later(
    sandbox: Sandbox, channel: SlackChannel, count: int
) -> None:
    """Given two messages of a card or a digest, and no permission to read messages when it is swept; when the
    permission is there, even after hours, then one of them is deleted without a press."""
    stage = Stage(sandbox, channel, "slack:C0APPROVE")
    for _ in range(count):
        await stage.submit()
    held = await stage.dying_bot()
    await stage.bot()
    held.release()
    await wait_until("two", lambda: len(stage.cards()) == 2)
    sandbox.faults.configure(NO_SEARCH)
    for _ in range(3):
        stage.now += LATE_WINDOW + 1
        await stage.bot()
    assert len(stage.cards()) == 2

    sandbox.faults.configure({"mode": "ok"})
    stage.now += 4 * LATE_WINDOW
    await stage.bot()

    assert len(stage.cards()) == 1


@pytest.mark.parametrize("place", ["slack:C0APPROVE", "slack:U0DANA", "slack:S0OPS"])
async def test_a_duplicate_of_a_card_that_was_posted_again_is_looked_for_until_that_works(
    sandbox: Sandbox, channel: SlackChannel, place: str
) -> None:
    """Given a card that a person deleted, and a bot that died while it posted it again, so that there are
    two; when messages can't be read at the next check, then one of them is deleted after a later one."""
    stage = Stage(sandbox, channel, place)
    review_id = await stage.submit()
    await stage.bot()
    refs = (await stage.reviews.load(review_id)).posts.values()
    count = len(refs)
    for ref in refs:
        sandbox.workspace.channels[ref.conversation].messages[ref.ts].deleted = True
    await stage.store.redraw(review_id, Place(place))
    held = await stage.dying_bot()
    await stage.bot()
    held.release()
    await wait_until("one too many", lambda: len(stage.cards()) == count + 1)

    sandbox.faults.configure(NO_SEARCH)
    stage.now += LATE_WINDOW + 1
    await stage.bot()
    assert len(stage.cards()) == count + 1
    sandbox.faults.configure({"mode": "ok"})
    stage.now += 4 * LATE_WINDOW
    await stage.bot()

    assert len(stage.cards()) == count


async def test_a_digest_that_was_given_up_asks_nobody_later(
    sandbox: Sandbox, channel: SlackChannel
) -> None:
    """Given a digest that was posted by a bot that died, and no permission to read messages, so that its
    reviews got cards; when the permission is there, then the digest says that nothing waits there."""
    stage = Stage(sandbox, channel, "slack:C0APPROVE")
    for _ in range(6):
        await stage.submit()
    held = await stage.dying_bot()
    sandbox.faults.configure(NO_SEARCH)
    await stage.bot()
    held.release()
    await wait_until("all", lambda: len(stage.cards()) == 7)
    stage.now += LATE_WINDOW + 1
    await stage.bot()

    sandbox.faults.configure({"mode": "ok"})
    stage.now += 4 * LATE_WINDOW
    await stage.bot()

    assert sum("waits here any more" in one for one in stage.cards()) == 1


@pytest.mark.parametrize("changes", [True, False])
async def test_a_card_that_was_given_up_after_its_post_is_there_once(
    sandbox: Sandbox, channel: SlackChannel, changes: bool
) -> None:
    """Given a card whose bot died while it posted it, and no permission to read messages, so that it was
    given up, and, or not, a change of its review: then it is not posted again. When the permission is there,
    even after hours, then the card is there once, and recorded."""
    place = Place("slack:C0APPROVE")
    stage = Stage(sandbox, channel, place)
    review_id = await stage.submit()
    held = await stage.dying_bot()
    sandbox.faults.configure(NO_SEARCH)
    await stage.bot()
    held.release()
    await wait_until("it is there", stage.cards)
    if changes:
        await stage.reviews.change(
            review_id, "problem", lambda r, now: record_delivery_problem(r, place, "other", now)
        )
        await stage.bot()
    for _ in range(3):
        stage.now += LATE_WINDOW + 1
        await stage.bot()
    assert len(stage.cards()) == 1

    sandbox.faults.configure({"mode": "ok"})
    stage.now += 4 * LATE_WINDOW
    await stage.bot()

    assert len(stage.cards()) == 1
    [ref] = (await stage.reviews.load(review_id)).posts.values()
    assert not sandbox.workspace.channels[ref.conversation].messages[ref.ts].deleted


async def test_a_card_that_was_posted_again_is_searched_for_once(
    sandbox: Sandbox, channel: SlackChannel
) -> None:
    """Given a card that was posted again because somebody deleted it; once a late post would have been found,
    then no check reads the conversation's history any more: it grows, and each card is checked every hour."""
    stage = Stage(sandbox, channel, "slack:C0APPROVE")
    review_id = await stage.submit()
    await stage.bot()
    [ref] = (await stage.reviews.load(review_id)).posts.values()
    sandbox.workspace.channels[ref.conversation].messages[ref.ts].deleted = True

    def searches() -> int:
        return sum(each["method"] == "conversations.history" for each in sandbox.api.calls)

    async def check() -> int:
        before = searches()
        await stage.store.redraw(review_id, Place("slack:C0APPROVE"), "check")
        await stage.bot()
        return searches() - before

    await check()
    assert await check() > 0
    stage.now += LATE_WINDOW + 1
    assert await check() > 0
    assert await check() == 0
    assert len(stage.cards()) == 1
