"""The workers: what is told of one that stops."""

from __future__ import annotations

import asyncio

import pytest

from bot.health import Health
from bot.outbox import DueTimers, Workers
from hitl_core.errors import HitlError
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


async def test_a13_o3_why_a_worker_stopped_is_in_the_log_at_once(
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
