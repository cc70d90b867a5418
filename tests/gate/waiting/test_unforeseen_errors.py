"""An error of the client of Redis that nobody foresaw: a waiting agent goes on when it is over."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import redis

from hitl_core.store.redis.connection.batches import BatchingRedis
from tests.gate.conftest import Open, listeners
from tests.support.waiting import wait_until


async def test_an_unforeseen_error_ends_no_heartbeat_and_no_waiting(
    open_gate: Open,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Given a client of Redis that raises what is no error of ours; when that is over, then the process
    sends heartbeats and listens again. The log has both errors."""
    caplog.set_level(logging.INFO)
    await open_gate(heartbeat_ttl=0.6)
    original, is_broken = BatchingRedis.execute_command, True

    async def fail(self: Any, *args: Any, **options: Any) -> Any:
        if is_broken:
            raise RuntimeError("canary")
        return await original(self, *args, **options)

    monkeypatch.setattr(BatchingRedis, "execute_command", fail)
    end_blocked_reads(redis_url)
    await wait_until(
        "listening fails", lambda: "Waiting for the store: RuntimeError" in caplog.text
    )
    await wait_until("a heartbeat fails", lambda: "heartbeat of this process failed" in caplog.text)
    is_broken = False
    await wait_until("it listens again", lambda: listeners(redis_url) == 1)
    with redis.Redis.from_url(redis_url) as client:
        client.delete("none", *client.keys("*alive*"))  # on a busy machine it has ended already
        await wait_until("a heartbeat is sent again", lambda: bool(client.keys("*alive*")))


def end_blocked_reads(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        for one in client.client_list():
            if "b" in one["flags"]:
                client.client_unblock(int(one["id"]))
