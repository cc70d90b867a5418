"""A Redis that loses its latest writes: its append-only file is cut to an earlier length."""

from __future__ import annotations

from pathlib import Path

from slack_sandbox.demo.embedded_redis import EmbeddedRedis


def aof_size(server: EmbeddedRedis) -> int:
    """The length of the append-only file now. It contains every write that was acknowledged (appendfsync
    always).
    """
    return _aof(server).stat().st_size


def lose_writes_since(server: EmbeddedRedis, size: int) -> None:
    """Kills the server (kill -9), removes what was written after the file had this size, and
    starts it again.
    """
    server.kill()
    assert _aof(server).stat().st_size > size, "nothing was written since"
    with _aof(server).open("r+b") as file:
        file.truncate(size)
    server.start()


def _aof(server: EmbeddedRedis) -> Path:
    """Redis 7 has a folder with an incremental file; Redis 6.2 has a single file."""
    incremental = sorted((server.data_dir / "appendonlydir").glob("*.incr.aof"))
    return incremental[-1] if incremental else server.data_dir / "appendonly.aof"
