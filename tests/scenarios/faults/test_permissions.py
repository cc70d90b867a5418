"""The user of the bots and agents loses a permission in Redis while they run, and gets it back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from hitl_core.errors import StoreForbidden
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.docs.pages import page
from tests.support.bots import Scene, email
from tests.support.waiting import wait_until

[USER] = re.findall(r"^ACL SETUSER hitl (.*)$", page("docs/redis.md").text, re.MULTILINE)


@pytest.fixture
def admin(scene: Scene, own_redis: Callable[[], EmbeddedRedis]) -> Iterator[Any]:
    url = own_redis().url
    scene.redis_url = url.replace("//", "//hitl:PASSWORD@")
    with redis.Redis.from_url(url) as client:
        client.execute_command("ACL", "SETUSER", "hitl", *USER.split())
        yield client


async def test_a_card_is_recorded_when_its_command_is_permitted_again(
    scene: Scene, admin: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a user that loses a command just when a card is posted; then its buttons work as soon as it is
    permitted again: the card was a dead letter, for up to five minutes."""
    card, waiting, go = await scene.unrecorded_card(monkeypatch)
    admin.execute_command("ACL", "SETUSER", "hitl", "-hmget")
    go.touch()
    await wait_until("it is refused", lambda: "docs/redis.md, ACL users" in caplog.text)

    admin.execute_command("ACL", "SETUSER", "hitl", "+hmget")
    await scene.alice.press_until(waiting.done, card, "approve")

    assert len((await waiting).execute) == 1


async def test_an_agent_waits_until_its_command_is_permitted_again(
    scene: Scene, admin: Any
) -> None:
    """Given an agent whose user loses a command while it waits; then it gets its review afterwards: its run
    failed."""
    await scene.bot()
    gate = await scene.gate()
    review_id = await gate.submit([email()], thread_id="t")
    card = await scene.card("send_email")
    admin.execute_command("ACL", "SETUSER", "hitl", "-hgetall")
    waiting = asyncio.create_task(gate.wait(review_id))
    for _ in range(3):
        with pytest.raises(StoreForbidden, match="ACL users"):
            await gate.reviews.store.load(review_id)
    assert not waiting.done()

    admin.execute_command("ACL", "SETUSER", "hitl", "+hgetall")
    await scene.alice.press_until(waiting.done, card, "approve")

    assert len((await waiting).execute) == 1
