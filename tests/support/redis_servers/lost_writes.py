"""A Redis that loses its latest writes: its append-only file is cut to what it was at a moment."""

from __future__ import annotations

from pathlib import Path

from slack_sandbox.demo.embedded_redis import EmbeddedRedis


def aof_size(server: EmbeddedRedis) -> int:
    """The moment: everything that is acknowledged by now is within this size (appendfsync always)."""
    return _aof(server).stat().st_size


def lose_writes_since(server: EmbeddedRedis, size: int) -> None:
    """kill -9; what was written after this moment is gone; start again."""
    server.kill()
    assert _aof(server).stat().st_size > size, "nothing was written since"
    with _aof(server).open("r+b") as file:
        file.truncate(size)
    server.start()


def _aof(server: EmbeddedRedis) -> Path:
    """Redis 7 has a folder with an incremental file, 6.2 one file."""
    incremental = sorted((server.data_dir / "appendonlydir").glob("*.incr.aof"))
    return incremental[-1] if incremental else server.data_dir / "appendonly.aof"
