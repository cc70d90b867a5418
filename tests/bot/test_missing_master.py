"""A bot on a Redis Cluster of which one master gives no answer: it goes on with what the others hold, and
says what it does not know.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from typing import cast

import pytest

from bot.card import MISSING
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.render.home_blocks import list_blocks, view_blocks
from bot.health.health import Health
from bot.health.loss_watch import LossWatch
from bot.health.probes import make_probe
from bot.inbox import Home, HomeLoader
from bot.outbox.delivery import Delivery
from bot.outbox.due_timers import DueTimers
from bot.outbox.outbox import Outbox
from bot.people.directory import Directory
from hitl_core.errors import StoreUnavailable
from hitl_core.model import DEFAULT_PLACE, Reviewer, ToolCall
from hitl_core.review import Reviews
from hitl_core.store.redis.connection import client
from hitl_core.store.redis.keys import META_KEY, lane_key, slot_key
from slack_sandbox.sandbox import Sandbox
from tests.support.builders import policy
from tests.support.redis_servers.cluster import RedisCluster
from tests.support.redis_servers.missing_master import (
    THREADS,
    LosableMaster,
    losable_master,
    partition_of,
)
from tests.support.waiting import wait_until

pytestmark = pytest.mark.timeout(180)

ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice")
RULES = policy(ask={"reviewers": {"users": ["U0ALICE"]}})
#: What a bot needs to post in the channel.
KEPT = [
    META_KEY,
    lane_key("default"),
    slot_key("post:slack:C0APPROVE"),
    slot_key("update:slack"),
]


@pytest.fixture
async def setting(
    cluster_url: str, redis_cluster: RedisCluster, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[LosableMaster]:
    monkeypatch.setattr(client, "COMMAND_TIMEOUT", 2.0)
    async with losable_master(redis_cluster, "freeze", RULES, KEPT) as setting:
        yield setting


async def test_cards_of_other_masters_are_shown(
    setting: LosableMaster, sandbox: Sandbox, channel: SlackChannel
) -> None:
    reviews, channels, health = Reviews(setting.store), Channels(channel), Health()
    delivery = Delivery(reviews, channels, Directory(channels), health)
    outbox = Outbox(reviews, delivery, health, lane_lease=2.0)
    setting.lose()
    running = asyncio.create_task(outbox.run())
    for review_id in setting.whole:

        async def is_shown(review_id: str = review_id) -> bool:
            return DEFAULT_PLACE in (await reviews.load(review_id)).posts

        await wait_until("its card is shown", is_shown, 60)
    setting.bring_back()
    for review_id in setting.lost:

        async def is_shown_too(review_id: str = review_id) -> bool:
            try:
                return DEFAULT_PLACE in (await reviews.load(review_id)).posts
            except StoreUnavailable:
                return False

        await wait_until("those of the missing master follow", is_shown_too, 60)
    await outbox.drain()
    running.cancel()
    assert len(sandbox.workspace.channels["C0APPROVE"].messages) == len(setting.ids)


async def test_deadlines_of_other_masters_are_applied(setting: LosableMaster) -> None:
    reviews, health = Reviews(setting.store), Health()
    timers = DueTimers(reviews, health)
    hurried = [ToolCall("c1", "hurried", {})]
    for thread in THREADS:
        await setting.gate.submit(hurried, thread_id=f"{thread} hurried")
    due = [one.id for one in await setting.store.live_reviews() if one.id not in ids_of(setting)]
    kept = [one for one in due if partition_of(one) not in setting.missing]
    assert 0 < len(kept) < len(due)
    setting.lose()

    async def are_settled() -> bool:
        await timers.tick()
        found = [(await reviews.load(one)).review.status for one in kept]
        return set(found) == {"settled"}

    await wait_until("their deadlines are applied", are_settled, 60)
    setting.bring_back()
    kept = due

    async def are_all_settled() -> bool:
        with suppress(StoreUnavailable):
            return await are_settled()
        return False

    await wait_until("the others follow", are_all_settled, 60)


async def test_a_missing_master_is_a_problem_and_the_bot_stays_ready(
    setting: LosableMaster,
) -> None:
    health = Health()
    watch = LossWatch(Reviews(setting.store), health)
    ready = make_probe(setting.store, [], health)
    await watch.tick()
    assert (await ready())["problems"] == {}
    setting.lose()
    with pytest.raises(StoreUnavailable):
        await setting.store.load(setting.lost[0])

    await watch.tick()
    [problem] = health.current_problems()
    assert (problem.kind, problem.subject) == ("store", "missing")
    assert f"{len(setting.missing)} of the 16 partitions" in problem.text
    assert set(cast(dict[str, object], (await ready())["problems"])) == {"store"}

    setting.bring_back()

    async def is_over() -> bool:
        await watch.tick()
        return not health.current_problems()

    await wait_until("the problem is over", is_over, 60)


async def test_a_home_shows_what_is_known_and_says_that_it_is_not_all(
    setting: LosableMaster, channel: SlackChannel
) -> None:
    channels = Channels(channel)
    homes = HomeLoader(Reviews(setting.store), channels, Directory(channels))
    assert not (await homes.load_home(ALICE)).missing
    setting.lose()

    home = await homes.load_home(ALICE)

    assert (home.missing, home.unsure, home.total) == (True, True, len(setting.whole))
    assert {task.review.id for task in home.mine} <= set(setting.whole)
    assert home.alerts == [MISSING]
    for blocks in (view_blocks(home, channel), list_blocks(home, channel)):
        shown = str(blocks)
        assert f"At least {len(setting.whole)} reviews wait for you" in shown
        assert "Not all of your reviews can be shown at the moment" in shown
    empty: Home = replace(home, mine=(), others=(), decided=(), total=0)
    shown = str(view_blocks(empty, channel))
    assert "It is not known now what waits for you" in shown
    assert "When an agent asks" not in shown


async def test_a_review_of_the_missing_master_is_never_said_to_be_gone(
    setting: LosableMaster, channel: SlackChannel
) -> None:
    channels = Channels(channel)
    homes = HomeLoader(Reviews(setting.store), channels, Directory(channels))
    setting.lose()
    with pytest.raises(StoreUnavailable):
        await homes.find_review_id(ALICE, setting.lost[0][:10])
    assert await homes.find_review_id(ALICE, setting.whole[0][:10]) == setting.whole[0]


def ids_of(setting: LosableMaster) -> set[str]:
    return {*setting.ids.values()}
