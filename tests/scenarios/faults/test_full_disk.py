"""The disk of Redis is full: nothing that was acknowledged is lost, and everything recovers
without a person.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hitl_core import ToolCall
from tests.scenarios.faults.test_outages import ready
from tests.support.bots import CANARY, Scene, email
from tests.support.redis_servers.full_disk import FullDiskRedis
from tests.support.waiting import wait_until


@pytest.mark.redis
@pytest.mark.parametrize("fsync", ["always", "everysec"])
async def test_a_full_disk_loses_nothing_that_was_acknowledged(
    scene: Scene, tmp_path: Path, fsync: str
) -> None:
    """Fault R6: given two reviews, one of which is decided, and a disk that has no room any more; then a
    press on the other is refused with a sentence, and /readyz is 503. (Redis ends with `always`; with
    `everysec` it refuses writes.) When there is room, then the first is still decided, once, and the press
    counts."""
    with FullDiskRedis(tmp_path / "redis", fsync) as server:
        scene.redis_url = server.url
        bot = await scene.bot()
        gate = await scene.gate()
        first = scene.ask(gate, email())
        second = scene.ask(gate, ToolCall("c1", "note", {"canary": CANARY}))
        one, two = await scene.card("send_email"), await scene.card("note")
        await scene.all_shown()
        assert (await scene.alice.press(one, "approve"))["ok"]
        await first

        server.fill_disk()
        await wait_until("the bot is not ready", lambda: is_status(bot.url, 503))
        await scene.alice.press(two, "approve")
        assert "Press again" in await scene.alice.last_notice()
        assert (server.pid is None) == (fsync == "always")

        if server.pid is None:
            server.kill()
            server.start()
        else:
            server.free_disk()
        await wait_until("the bot is ready", lambda: is_status(bot.url, 200))
        await scene.alice.press_until(second.done, two, "approve")
        assert len((await second).execute) == 1
        [call] = (await first).execute
        assert await (await first).once(call)
        assert len(await scene.cards()) == 2
        await scene.close()


async def is_status(url: str, status: int) -> bool:
    return (await ready(url))[0] == status
