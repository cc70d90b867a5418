"""What `/readyz` says of this machine's clock."""

from __future__ import annotations

import time

import pytest

from bot.health.health import Health
from bot.health.probes import make_probe
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
