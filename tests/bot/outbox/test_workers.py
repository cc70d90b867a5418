"""Background workers: a worker that stops is reported."""

from __future__ import annotations

import asyncio

import pytest

from bot.channels.contract import NotFound, Undeliverable
from bot.health import Health
from bot.outbox import DueTimers, HomeRefresher, Workers
from bot.outbox.home_refresher import HOME_INTERVAL
from hitl_core.errors import HitlError, StoreUnavailable
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.support.waiting import wait_until


class Stopping:
    async def run(self) -> None:
        raise KeyError("secret")


class Quiet:
    async def run(self) -> None:
        await asyncio.Event().wait()

    async def drain(self) -> None:
        pass


async def test_why_a_worker_stopped_is_in_the_log_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """`check` sends the operators to the log: then the reason is there, and not only when the bot ends."""
    timers = DueTimers(Reviews(MemoryStore()), Health())
    async with Workers(Quiet(), timers, Stopping()) as workers:  # type: ignore[arg-type]
        await wait_until("it is told", lambda: "a worker stopped: KeyError at " in caplog.text)
        with pytest.raises(HitlError, match="See the bot's log"):
            workers.check()
    assert caplog.text.count("a worker stopped") == 1
    assert "secret" not in caplog.text


class HomeStage:
    """Two people of one channel with open Homes."""

    def __init__(self) -> None:
        self.now, self.health = 1_800_000_000.0, Health()
        self.store = MemoryStore(lambda: self.now)
        self.failing: dict[str, Exception] = {}
        self.refresher = HomeRefresher(self.store, {"slack": self.publish}, self.health)

    async def publish(self, id: str, /) -> None:
        if id in self.failing:
            raise self.failing[id]

    async def tick(self) -> None:
        for person in ("slack:U1", "slack:U2"):
            await self.store.record_home_view(person, self.now)
        self.now += HOME_INTERVAL + 1
        await self.refresher.tick()

    def problems(self) -> list[str]:
        return [one.text for one in self.health.current_problems()]


async def test_homes_that_can_not_be_updated_are_a_problem() -> None:
    """Given a Home whose updates fail, and another one whose updates work; then that is one problem that
    lasts until it works again. It was only logged."""
    stage = HomeStage()
    stage.failing["U1"] = Undeliverable("Slack answered not_enabled to views.publish")
    await stage.tick()
    assert stage.problems() == []
    for _ in range(3):
        await stage.tick()
        [text] = stage.problems()
        assert "not_enabled" in text
    stage.failing.clear()
    await stage.tick()
    assert stage.problems() == []


async def test_who_left_or_an_unreachable_redis_is_no_problem_of_homes() -> None:
    stage = HomeStage()
    stage.failing |= {"U1": NotFound("this person has left"), "U2": StoreUnavailable("away")}
    for _ in range(3):
        await stage.tick()
    assert stage.problems() == []
