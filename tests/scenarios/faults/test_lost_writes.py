"""T54: Redis comes back without writes that it acknowledged. What happens to cards, clicks, agents and the
operator.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin

import aiohttp

from hitl_core.review import Release
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.bots import Scene, email
from tests.support.builders import person
from tests.support.redis_servers.lost_writes import aof_size, lose_writes_since
from tests.support.slack import buttons
from tests.support.waiting import wait_until

HELD = "This is held"


async def test_a_press_on_a_held_review_changes_nothing_until_it_is_released(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis]
) -> None:
    """T54: Fault R2: given a Redis that lost a submit; then the card of another review says that it is held,
    a press is refused, the agent gets nothing, and /readyz counts it. After the release it is asked again,
    and runs."""
    server = own_redis()
    scene.redis_url = server.url
    bot = await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.all_shown()
    before = aof_size(server)
    await gate.submit([email("c9")], thread_id="lost")
    await bot.store.check_history()

    lose_writes_since(server, before)

    held = await scene.card(HELD)
    assert not buttons(held, "approve")
    await scene.draw_again(card)  # a client that has not got the new card yet
    assert (await scene.alice.press(card, "approve"))["ok"]
    assert "store lost data" in await scene.alice.last_notice()
    await scene.card(HELD)
    assert not waiting.done()
    problems = (await answer(bot.url, "/readyz"))["problems"]
    assert problems["store"]["count"] == 2, "the loss, and what is held"
    [review] = await bot.store.held_reviews()

    await gate.reviews.apply(Release(review.id, person(), "op"))

    async def asks_again() -> bool:
        return all(HELD not in str(each) for each in await scene.cards())

    await wait_until("the card asks again", asks_again)
    assert (await scene.alice.press(card, "approve"))["ok"]
    assert (await asyncio.wait_for(waiting, 30)).execute[0].name == "send_email"


async def answer(url: str, path: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(urljoin(url, path)) as reply:
        return await reply.json()
