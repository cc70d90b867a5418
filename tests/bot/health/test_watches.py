"""What runs in the background tells what is wrong, and never ends by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import redis

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.channels.teams import stored_key
from bot.channels.teams.stored_key import StoredKey
from bot.health import (
    Health,
    LossWatch,
    PlaceCheck,
    log_changes,
    loss_watch,
    place_check,
    probes,
    report_sealing,
)
from bot.outbox import Delivery, DueTimers, HomeRefresher, ReviewCheck, review_check
from bot.people import Directory
from hitl_core.audit import Sealer
from hitl_core.review.service import Reviews
from hitl_core.store import HistoryCheck, MemoryStore, RedisStore
from hitl_core.store.redis.keys import HOMES_KEY, META_KEY, TOKENS_KEY, Keys
from tests.support.waiting import wait_until


@asynccontextmanager
async def running(watch: Coroutine[None, None, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(watch)
    yield
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_watch, "INTERVAL", 0.01)
    monkeypatch.setattr(loss_watch, "KEYS_INTERVAL", 0.01)
    monkeypatch.setattr(probes, "WATCH_INTERVAL", 0.01)
    for loop in (review_check, place_check, stored_key):
        monkeypatch.setattr(loop, "INTERVAL", 0.01)


class FailingStore(MemoryStore):
    """It fails with an error that is not ours, as a library with a bug does."""

    fails = True

    async def check_history(self) -> HistoryCheck:
        if self.fails:
            raise RuntimeError("canary")
        return await super().check_history()


async def test_that_the_history_can_not_be_checked_is_told_until_it_can() -> None:
    store, health = FailingStore(), Health()
    async with running(LossWatch(Reviews(store), health).run()):
        [problem] = await wait_until("it is reported", health.current_problems)
        assert problem.kind == "store"
        assert "not known whether Redis loses writes: RuntimeError at" in problem.text
        assert "canary" not in problem.text
        store.fails = False
        await wait_until("it is over", lambda: not health.current_problems())


Loop = Callable[[MemoryStore, SlackChannel, Health], Coroutine[None, None, None]]


def check_deciders(
    store: MemoryStore, channel: SlackChannel, health: Health
) -> Coroutine[None, None, None]:
    reviews, channels = Reviews(store), Channels(channel)
    delivery = Delivery(reviews, channels, Directory(channels), health)
    return ReviewCheck(reviews, delivery, health).run()


LOOPS: dict[str, tuple[str, Loop]] = {
    "deciders": ("try_lock", check_deciders),
    "places": (
        "try_lock",
        lambda at, slack, to: PlaceCheck(Reviews(at), Channels(slack), to).run(),
    ),
    "timers": (
        "due_reviews",
        lambda at, slack, to: DueTimers(Reviews(at), to, interval=0.01).run(),
    ),
    "homes": ("home_viewers", lambda at, slack, to: HomeRefresher(at, {}, to, interval=0.01).run()),
    "audit": (
        "ledger.last_export",
        lambda at, slack, to: Sealer(at, partial(report_sealing, to), interval=0.01).run(),
    ),
    "button key": ("add_channel_value", lambda at, slack, to: StoredKey(at, to).run()),
}


@pytest.mark.parametrize("loop", LOOPS)
async def test_an_error_of_a_library_ends_no_loop_and_is_told_until_it_is_over(
    loop: str, channel: SlackChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, health, fails = MemoryStore(), Health(), [True]
    path, make = LOOPS[loop]
    owner = store.ledger if path.startswith("ledger.") else store
    method = path.removeprefix("ledger.")
    original = getattr(owner, method)

    async def call(*args: Any) -> Any:
        if fails:
            raise RuntimeError("canary")
        return await original(*args)

    monkeypatch.setattr(owner, method, call)
    async with running(make(store, channel, health)):
        [problem] = await wait_until("it is reported", health.current_problems)
        assert "RuntimeError at" in problem.text
        assert "canary" not in problem.text
        fails.clear()
        await wait_until("it is over", lambda: not health.current_problems())


class CountingStore(MemoryStore):
    looks = 0

    async def foreign_keys(self, missing: set[int] | None = None) -> list[str]:
        self.looks += 1
        return await super().foreign_keys(missing)


async def test_the_types_of_keys_are_not_looked_at_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is a script for each partition."""
    store = CountingStore()
    watch = LossWatch(Reviews(store), Health())
    for pause in (3600.0, 3600.0, 0.0, 0.0):
        monkeypatch.setattr(loss_watch, "KEYS_INTERVAL", pause)
        await watch.tick()
    assert store.looks == 1


async def test_the_log_says_that_a_bot_is_ready_again_after_any_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    fails = True

    async def ready() -> dict[str, object]:
        if fails:
            raise RuntimeError("canary")
        return {}

    async with running(log_changes(ready)):
        await wait_until("it is logged", lambda: "not ready: RuntimeError at" in caplog.text)
        fails = False
        await wait_until("it is over", lambda: "ready again" in caplog.text)
    assert "canary" not in caplog.text


KEYS = Keys(0)


@pytest.mark.parametrize(
    "key",
    [
        *(KEYS.live_reviews, KEYS.due, KEYS.held, KEYS.history, KEYS.events, KEYS.queues),
        *(KEYS.change_counts, KEYS.job_starts, KEYS.dead_letters, KEYS.dead_letter_counts),
        *(KEYS.audit, KEYS.anchors, KEYS.last_export, KEYS.policies),
        *(META_KEY, TOKENS_KEY, HOMES_KEY),
    ],
)
async def test_a_foreign_key_is_told_until_it_is_gone(
    store: RedisStore, redis_url: str, key: str
) -> None:
    """Given a key of ours with a value of another type; then the operators are told its name: agents could
    submit nothing, and no bot noticed."""
    health = Health()
    with redis.Redis.from_url(redis_url) as client:
        client.delete(key)
        client.rpush(key, "x")
        async with running(LossWatch(Reviews(store), health).run()):

            def is_reported() -> bool:
                return any(key in one.text for one in health.current_problems())

            await wait_until("it is reported", is_reported)
            client.delete(key)
            await wait_until("it is over", lambda: not is_reported())
