"""The bot checks all live reviews for people who can decide. It reaches each of them, however many there are,
even if one is broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox import DueTimers, ReviewCheck, review_check
from bot.outbox.delivery import Delivery
from bot.people.directory import Directory
from hitl_core.errors import ReviewUnreadable
from hitl_core.model import DEFAULT_PLACE, MessageRef, Place, Snapshot
from hitl_core.review import Reviews, claims
from hitl_core.store import MemoryStore
from slack_sandbox.server import Sandbox
from tests.support.builders import START, approve_all, policy, review_of
from tests.support.jobs import finish_all

BOB = policy(ask={"reviewers": {"users": ["U0BOB"]}})


class Store(MemoryStore):
    """`damaged` are the ids of reviews that can't be read."""

    def __init__(self) -> None:
        super().__init__(lambda: self.now_)
        self.now_, self.damaged = START, set[str]()

    async def load_outline(self, review_id: str) -> Snapshot | None:
        if review_id in self.damaged:
            raise ReviewUnreadable(f"The stored review {review_id} can't be read by this version.")
        return await super().load_outline(review_id)


@pytest.fixture
def store() -> Store:
    return Store()


async def submit_shown(store: Store, count: int) -> list[str]:
    ids = list[str]()
    for number in range(count):
        made = review_of(by=BOB, now=START + number, thread_id=f"t-{number}")
        review = await Reviews(store).submit(*made)
        ref = MessageRef(channel="slack", conversation="C0APPROVE", ts=f"{number}.0")
        await store.record_post(review.id, DEFAULT_PLACE, ref)
        ids.append(review.id)
    await finish_all(store)
    return ids


def check_of(store: Store, channel: SlackChannel, health: Health) -> ReviewCheck:
    reviews, channels = Reviews(store), Channels(channel)
    return ReviewCheck(
        reviews, Delivery(reviews, channels, Directory(channels), Health()), health=health
    )


async def finish_checks(store: Store) -> Sequence[str]:
    return [job.review_id for job in await finish_all(store) if job.kind == "check"]


async def test_a_review_that_can_not_be_read_keeps_no_other_from_its_check(
    store: Store, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given three shown reviews whose only reviewer has left, of which a newer version has written the first;
    then the others are problems, and so is the first."""
    ids = await submit_shown(store, 3)
    store.damaged.add(ids[0])
    sandbox.users.deactivate("U0BOB")
    health = Health()
    await check_of(store, channel, health).check_page()
    reviews = [(await store.load(one)) for one in ids[1:]]
    assert [bool(one and one.review.delivery_problems) for one in reviews] == [True, True]
    assert any(ids[0] in one.subject for one in health.current_problems())


async def test_a_review_whose_check_fails_keeps_no_other_from_its_check(
    store: Store, channel: SlackChannel, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given three shown reviews whose only reviewer has left, of which the first makes its check fail with an
    error that is not ours; then the others are problems, and so is the first."""
    ids = await submit_shown(store, 3)
    sandbox.users.deactivate("U0BOB")
    health = Health()
    checks = check_of(store, channel, health)
    original = checks._deciders.check

    async def check(snapshot: Snapshot, *args: Any) -> None:
        if snapshot.review.id == ids[0]:
            raise RuntimeError("canary")
        await original(snapshot, *args)

    monkeypatch.setattr(checks._deciders, "check", check)
    await checks.check_page()
    reviews = [(await store.load(one)) for one in ids]
    assert [bool(one and one.review.delivery_problems) for one in reviews] == [False, True, True]
    assert any(ids[0] in one.subject for one in health.current_problems())


async def test_each_card_is_drawn_again_however_many_wait(
    store: Store, channel: SlackChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given more cards than are drawn in an hour; then those that were drawn an hour ago don't go before
    those that were not: any deleted card comes back."""
    monkeypatch.setattr(review_check, "MAX_DRAWN", 2)
    ids = await submit_shown(store, 7)
    store.now_ += review_check.DRAW_INTERVAL + 10
    check, seen = check_of(store, channel, Health()), list[str]()
    for _ in range(4):
        await check.draw_page()
        seen += await finish_checks(store)
        store.now_ += review_check.DRAW_INTERVAL / 2
    assert set(seen) == set(ids)


async def test_a_claim_of_a_dead_process_ends_though_the_clock_was_set_back(
    store: Store, channel: SlackChannel
) -> None:
    """Given a process that died after it had claimed a review and started its call; when the store's clock is
    set back by an hour, then people are asked after one lease, and not when that hour is over."""
    [review_id] = await submit_shown(store, 1)
    reviews = Reviews(store)
    await approve_all(reviews, review_id)
    await reviews.change(review_id, "claim", lambda r, now: claims.claim(r, "p", now, 30))
    await reviews.change(review_id, "start", lambda r, now: claims.start(r, 1, "1", now))
    store.now_ -= 3600
    timers = DueTimers(reviews, Health())

    await check_of(store, channel, Health()).check_page()
    store.now_ += 29
    assert await timers.tick() == 0
    store.now_ += 2
    assert await timers.tick() == 1

    assert (await reviews.load(review_id)).review.calls_in_doubt


async def test_a_new_member_of_a_group_gets_a_card_of_what_waits(
    store: Store, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a review that waits for a group; when a person and a guest join the group, and nothing else
    happens, then the person gets a card, and the guest none."""
    group = Place("slack:S0OPS")
    review, event = review_of(by=policy(ask={"notify": group}))
    reviews = Reviews(store)
    await reviews.submit(review, event)
    await deliver(store, channel, review.id, group)
    assert await jobs_of_check(store, channel) == []

    sandbox.groups.set_members("S0OPS", ["U0CARL", "U0DANA", "U0MARIA", "U0GINA"])
    assert await jobs_of_check(store, channel) == [("card", group)]
    await deliver(store, channel, review.id, group)
    shown = (await reviews.load(review.id)).posts
    assert {copy.member for copy in shown} == {"U0CARL", "U0DANA", "U0MARIA"}
    assert await jobs_of_check(store, channel) == []


async def test_a_new_member_who_can_not_be_reached_is_tried_once(
    store: Store, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a new member of a group to whom Slack lets nobody write; then one check asks for a card, and the
    next one for no other."""
    group = Place("slack:S0OPS")
    review, event = review_of(by=policy(ask={"notify": group}))
    await Reviews(store).submit(review, event)
    await deliver(store, channel, review.id, group)
    sandbox.groups.set_members("S0OPS", ["U0CARL", "U0DANA", "U0MARIA"])
    body = '{"ok": false, "error": "messages_tab_disabled"}'
    sandbox.faults.configure({"mode": "answer", "method": "conversations.open", "body": body})
    assert await jobs_of_check(store, channel) == [("card", group)]
    await deliver(store, channel, review.id, group)
    assert await jobs_of_check(store, channel) == []


async def deliver(store: Store, channel: SlackChannel, review_id: str, place: Place) -> None:
    """Runs the jobs of a place, with empty caches."""
    await finish_all(store)
    delivery = Delivery(Reviews(store), Channels(channel), Directory(Channels(channel)), Health())
    await delivery.deliver(review_id, place, again=False)


async def jobs_of_check(store: Store, channel: SlackChannel) -> list[tuple[str, Place]]:
    """What a check with empty caches adds to the queues."""
    await finish_all(store)
    await check_of(store, channel, Health()).check_page()
    return [(job.kind, job.place) for job in await finish_all(store)]
