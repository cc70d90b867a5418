"""What `/readyz` says about the clock of this machine."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.health.health import Health
from bot.health.probes import make_probe
from hitl_core.errors import HitlError
from hitl_core.store import MemoryStore, RedisStore

NOTHING_WRONG = {"undelivered": 0, "problems": {}}


@pytest.mark.every_reply
@pytest.mark.parametrize(("off", "text"), [(600.0, "ahead of"), (-600.0, "behind")])
async def test_a_clock_that_is_off_makes_a_bot_not_ready(
    redis_url: str, off: float, text: str
) -> None:
    """T24: given a bot whose clock is ten minutes off, so that it would take all of Slack's requests for
    forged ones; then it is not ready, and says so."""
    store = await RedisStore.open(redis_url)
    try:
        with pytest.raises(HitlError, match=f"600 s {text} Redis's"):
            await make_probe(store, [], Health(), lambda: time.time() + off)()
        assert await make_probe(store, [], Health(), lambda: time.time() + 60)() == NOTHING_WRONG
    finally:
        await store.close()


async def test_a_flood_of_probes_costs_few_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a probe in progress; when many others come, then one more look at the store answers all."""
    store, looks = MemoryStore(), 0
    now = store.now

    async def counted() -> float:
        nonlocal looks
        looks += 1
        await asyncio.sleep(0)
        return await now()

    monkeypatch.setattr(store, "now", counted)
    ready = make_probe(store, [], Health())

    assert await asyncio.gather(*(ready() for _ in range(900))) == [NOTHING_WRONG] * 900
    assert looks <= 2
