"""T54: Redis comes back without what it had acknowledged. Cards, presses, agents and the operator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin

import aiohttp
import pytest

from hitl_core.review import Release
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.bots import Scene, email
from tests.support.builders import person
from tests.support.lost_writes import aof_size, lose_writes_since
from tests.support.slack import text_of
from tests.support.waiting import wait_until

HELD = "held"


async def test_t54_a_press_on_a_held_review_changes_nothing_until_it_is_released(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis]
) -> None:
    """Given a decision that Redis lost: its card says that it is held, a press is refused, the agent that waits
    gets nothing, /readyz and the metrics count it; after the release it is asked again, and runs once."""
    server = own_redis()
    scene.redis_url = server.url
    bot = await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    before = aof_size(server)
    await gate.submit([email("c9")], thread_id="lost")
    await scene.card("send_email")

    lose_writes_since(server, before)

    held = await scene.card(HELD)
    assert (await scene.alice.press(card, "approve"))["ok"]
    assert "store lost data" in await scene.alice.last_notice()
    assert not waiting.done()
    problems = (await answer(bot.url, "/readyz"))["problems"]
    assert problems["store"]["count"] == 2, "the loss, and what is held"
    [review] = await bot.store.held_reviews()

    await gate.reviews.apply(Release(review.id, person(), "op"))
    await wait_until("the card asks again", lambda: HELD not in text_of(scene.slack.message(held)))
    assert (await scene.alice.press(card, "approve"))["ok"]
    assert (await asyncio.wait_for(waiting, 30)).execute[0].name == "send_email"


async def answer(url: str, path: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(urljoin(url, path)) as reply:
        return await reply.json()
