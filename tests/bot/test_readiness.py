"""What `/readyz` says of this machine's clock."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.health.health import Health
from bot.health.probes import make_probe
from bot.health.shared_call import SharedCall
from hitl_core.errors import HitlError
from hitl_core.store import RedisStore

NOTHING_WRONG = {"undelivered": 0, "problems": {}}


@pytest.mark.parametrize(("off", "text"), [(600.0, "ahead of"), (-600.0, "behind")])
async def test_t24_a_clock_that_is_off_makes_a_bot_not_ready(
    redis_url: str, off: float, text: str
) -> None:
    """Given a bot whose clock is ten minutes off, so that it would take all of Slack's requests for forged
    ones; then it is not ready, and says so."""
    store = await RedisStore.open(redis_url)
    try:
        with pytest.raises(HitlError, match=f"600 s {text} Redis's"):
            await make_probe(store, [], Health(), lambda: time.time() + off)()
        assert await make_probe(store, [], Health(), lambda: time.time() + 60)() == NOTHING_WRONG
    finally:
        await store.close()


async def test_attack6_m5_a_flood_of_questions_is_answered_by_few_calls() -> None:
    """Given an answer that is being made; when many ask, then one more call answers all of them, and none
    gets what was true before it asked."""
    calls, go = 0, asyncio.Event()

    async def answer() -> int:
        nonlocal calls
        calls += 1
        mine = calls
        await go.wait()
        return mine

    shared = SharedCall(answer)
    first = asyncio.create_task(shared())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    many = [asyncio.create_task(shared()) for _ in range(900)]
    await asyncio.sleep(0)
    many[0].cancel()
    go.set()

    assert await first == 1
    assert await asyncio.gather(*many[1:]) == [2] * 899
    assert await shared() == 3


async def test_attack6_m5_a_failing_call_fails_for_those_who_asked() -> None:
    results = iter([HitlError("away"), None])

    async def answer() -> str:
        if error := next(results):
            raise error
        return "fine"

    shared = SharedCall(answer)
    asked = [asyncio.create_task(shared()) for _ in range(3)]
    for one in asked:
        with pytest.raises(HitlError, match="away"):
            await one
    assert await shared() == "fine"
