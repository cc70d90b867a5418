"""HITL_REDIS_WAIT_REPLICAS in a running bot: a click while no replica confirms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
import redis

from bot.health import loss_watch
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.bots import Scene, email
from tests.support.slack import review_of
from tests.support.waiting import wait_until


def follow(replica: EmbeddedRedis, primary: EmbeddedRedis) -> None:
    with redis.Redis.from_url(replica.url) as client:
        client.replicaof("127.0.0.1", primary.url.split(":")[2].split("/")[0])


def is_linked(primary: EmbeddedRedis) -> bool:
    with redis.Redis.from_url(primary.url) as client:
        info: Any = client.info("replication")
    return info.get("slave0", {}).get("state") == "online"


async def test_replicas_that_confirm_nothing_are_told(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a bot that waits for one replica, and there is none; then it is one of its problems until there
    is one: nobody could decide, and nobody was told."""
    monkeypatch.setattr(loss_watch, "INTERVAL", 0.01)
    monkeypatch.setattr(loss_watch, "REPLICAS_INTERVAL", 0.01)
    primary, replica = own_redis(), own_redis()
    scene.redis_url = primary.url
    bot = await scene.bot(HITL_REDIS_WAIT_REPLICAS="1")

    async def problems() -> Any:
        url = f"{bot.url}/readyz"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return (await answer.json()).get("problems")

    async def is_told() -> bool:
        return "store" in (await problems() or {})

    async def is_over() -> bool:
        return await problems() == {}

    await wait_until("it is told", is_told)
    follow(replica, primary)
    await wait_until("it is over", is_over)


async def test_a_click_that_no_replica_confirms_is_not_acknowledged(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault R5: given a bot and an agent that wait for one replica, and the replica dies; when a person
    approves, then they read that it is not known whether it was stored, and the agent starts nothing. When
    the replica is back, the call runs without another press, and one from an old card changes nothing."""
    primary, replica = own_redis(), own_redis()
    follow(replica, primary)
    await wait_until("the replica follows", lambda: is_linked(primary), 30)
    scene.redis_url = primary.url
    monkeypatch.setenv("HITL_REDIS_WAIT_REPLICAS", "1")
    await scene.bot(HITL_REDIS_WAIT_REPLICAS="1")
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.all_shown()

    replica.kill()
    await scene.alice.press(card, "approve")
    assert "not known whether this was stored" in await scene.alice.last_notice()
    [action] = (await gate.reviews.load(review_of(card))).review.actions
    assert action.decision is not None
    assert not waiting.done()

    replica.start()
    follow(replica, primary)
    await wait_until("the replica follows", lambda: is_linked(primary), 30)
    outcome = await waiting
    assert [call.name for call in outcome.execute] == ["send_email"]
    await scene.draw_again(card)  # a client that has not got the new card yet
    assert (await scene.alice.press(card, "approve"))["ok"]
    [action] = (await gate.reviews.load(review_of(card))).review.actions
    assert [who.id for who in action.deciders] == ["U0ALICE"]
    assert await outcome.once(outcome.execute[0])
