"""Real Redis servers for tests: `HITL_TEST_REDIS_SERVER=/path/to/redis-server` picks the binary."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.redis_binary import EmbeddedRedisError, find_redis_server

#: Without waiting for the disk. Append-only, because programs warn of a Redis that is not.
FORGETFUL = {
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": "",
    "maxmemory-policy": "noeviction",
}


def executable_under_test() -> Path:
    """The server under test. Skips the test if there is none; a wrong path is an error."""
    if chosen := os.environ.get("HITL_TEST_REDIS_SERVER"):
        return Path(chosen).resolve(strict=True)
    try:
        return find_redis_server()
    except EmbeddedRedisError as error:
        pytest.skip(str(error))


def session_server(data_dir: Path) -> EmbeddedRedis:
    """One server for all tests of a session: fast, because it doesn't wait for the disk."""
    return EmbeddedRedis(data_dir, executable=executable_under_test(), settings=FORGETFUL)


def durable_server(data_dir: Path) -> EmbeddedRedis:
    """A server with the demo's settings (append-only, always synced), for tests that kill and restart it."""
    return EmbeddedRedis(data_dir, executable=executable_under_test())
