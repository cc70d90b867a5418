"""The network to Redis is slow or resets connections; Slack revokes the bot's token; clocks differ."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import aiohttp
import pytest

from bot.app import Timing
from hitl_core import ToolCall
from tests.support.bots import CANARY, POLICY, Scene, email
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until

REVIEWS = 3
#: So many commands are sent between two resets: enough for each step of the product, and no more.
COMMANDS_PER_RESET = 20
#: The most connections of a store, and a few for a listener, a probe and the test itself.
CONNECTIONS = 40
HOUR = 3600
METHODS = ("chat.postMessage", "chat.update", "users.info", "conversations.members")
RETRY_SOON = Timing(pace=0.0, lane_lease=0.4, requeue_interval=0.3, timers_interval=0.05)


async def test_clicks_count_over_a_slow_network(scene: Scene) -> None:
    """Fault N1: given a bot and an agent that wait 100 to 300 ms for each reply of Redis; when a person
    approves, then the click counts at once, the call runs once, and the card shows both."""
    chance = random.Random(1)
    async with proxy_to(scene.redis_url) as network:
        scene.redis_url = network.url
        await scene.bot()
        gate = await scene.gate()
        waiting = scene.ask(gate, email())
        card = await scene.card("send_email")
        await scene.all_shown()
        network.delay = lambda: chance.uniform(0.1, 0.3)

        assert (await scene.alice.press(card, "approve"))["ok"]

        assert await scene.alice.notices() == []
        outcome = await waiting
        [call] = outcome.execute
        assert await outcome.once(call)
        await outcome.finish({call.id: "sent once"})
        await scene.card("sent once")
        await scene.close()


async def test_connections_that_are_reset_again_and_again_lose_nothing(scene: Scene) -> None:
    """Fault N3: given a network that resets all connections after each 20 commands; when people decide on
    three reviews, and press again where they are asked to; then each is decided once, its call runs once, its
    card shows that, and there are no more connections than without resets."""
    async with proxy_to(scene.redis_url) as network:
        scene.redis_url = network.url
        await scene.bot()
        gate = await scene.gate()
        network.reset_every = COMMANDS_PER_RESET
        calls = [
            ToolCall("c1", "note", {"n": f"note {n}.", "canary": CANARY}) for n in range(REVIEWS)
        ]
        waiting = [scene.ask(gate, call) for call in calls]
        runs: list[int] = []
        for n, outcome in enumerate(waiting):
            card = await scene.card(f"note {n}.")
            await scene.alice.press_until(outcome.done, card, "approve")
        for n, task in enumerate(waiting):
            outcome = await task
            [call] = outcome.execute
            if await outcome.once(call):
                runs.append(n)
            await outcome.finish({call.id: f"result {n}."})
        for n in range(REVIEWS):
            await scene.card(f"result {n}.")

        assert runs == list(range(REVIEWS))
        assert network.resets > REVIEWS
        assert network.most_open <= 2 * CONNECTIONS
        network.reset_every = None
        await scene.close()


async def test_a_revoked_token_is_told_and_nothing_is_lost(scene: Scene) -> None:
    """Fault S6: given a bot whose token Slack revokes while it runs; then a press is refused with a sentence,
    a new review waits, and /readyz has the problem; when the token is good again, then the card appears,
    once, and both are decided."""
    bot = await scene.bot(RETRY_SOON)
    gate = await scene.gate()
    first = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.all_shown()
    revoked = json.dumps({"ok": False, "error": "token_revoked"})
    for method in METHODS:  # the answers to clicks need no token
        await scene.actor.inject_fault("answer", method=method, body=revoked)

    second = scene.ask(gate, ToolCall("c1", "note", {"canary": CANARY}))
    await wait_until("the problem is told", lambda: has_problem(bot.url, "delivery"))
    await scene.bob.press(card, "approve")
    assert "could not be looked up" in await scene.bob.last_notice()
    assert not first.done()
    assert len(await scene.cards()) == 1

    await scene.actor.inject_fault("ok")
    await scene.alice.press_until(second.done, await scene.card("note"), "approve")
    await scene.bob.press_until(first.done, card, "approve")
    assert len((await first).execute) == len((await second).execute) == 1
    await wait_until("the problem is over", lambda: has_no_problem(bot.url))


async def has_problem(url: str, kind: str) -> bool:
    return kind in await problems(url)


async def has_no_problem(url: str) -> bool:
    return not await problems(url)


async def problems(url: str) -> dict[str, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(urljoin(url, "/readyz")) as answer,
    ):
        return (await answer.json())["problems"]


@pytest.mark.parametrize("hours", [-1, 1])
async def test_deadlines_follow_the_clock_of_redis(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    """Fault C1: given a bot whose clock is an hour wrong, and an agent's that is an hour wrong in the other
    direction; when nobody decides, then the deadline of two seconds is that of Redis's clock."""
    await scene.bot_process("", "--only", "workers", PYTHONPATH=str(wrong_clock(scene, hours)))
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() - hours * HOUR)
    gate = await scene.gate(POLICY + "expire: {after: 2s}")

    outcome = await scene.ask(gate, email())

    assert outcome.execute == ()
    decision = outcome.decision("c1")
    assert decision is not None
    assert 2 <= decision.at - outcome.review.created_at < HOUR / 2


def wrong_clock(scene: Scene, hours: int) -> Path:
    """A folder with a module that Python imports first: it sets the process's clock wrong."""
    folder = scene.folder / "wrong-clock"
    folder.mkdir()
    lines = "import time", "wall = time.time", f"time.time = lambda: wall() + {hours * HOUR}", ""
    (folder / "sitecustomize.py").write_text("\n".join(lines))
    return folder
