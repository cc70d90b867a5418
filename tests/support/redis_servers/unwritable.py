"""Real Redis servers that answer but accept no writes, for four reasons that happen in production."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import redis

Cause = Literal["OOM", "NOREPLICAS", "MISCONF", "READONLY"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
_PATIENCE = 20.0


@contextmanager
def refusing_writes(url: str, cause: Cause) -> Generator[None, None, None]:
    """Within the block, this server accepts no new writes, for this reason."""
    with redis.Redis.from_url(url) as client:
        _begin(client, cause)
        try:
            yield
        finally:
            _end(client, cause)


def _begin(client: Any, cause: Cause) -> None:
    match cause:
        case "OOM":
            client.config_set("maxmemory", "100kb")
        case "NOREPLICAS":
            client.config_set("min-replicas-to-write", 1)
        case "MISCONF":
            _snapshot(client).mkdir()  # a folder with the name of the file that Redis must write
            client.config_set("save", "3600 1")
            _save(client, "err")
        case "READONLY":
            client.replicaof("127.0.0.1", "1")


def _end(client: Any, cause: Cause) -> None:
    match cause:
        case "OOM":
            client.config_set("maxmemory", "0")
        case "NOREPLICAS":
            client.config_set("min-replicas-to-write", 0)
        case "MISCONF":
            _snapshot(client).rmdir()
            _save(client, "ok")
        case "READONLY":
            client.replicaof("NO", "ONE")


def _snapshot(client: Any) -> Path:
    return Path(client.config_get("dir")["dir"]) / "dump.rdb"


def _save(client: Any, outcome: str) -> None:
    end = time.monotonic() + _PATIENCE
    while client.info("persistence")["rdb_last_bgsave_status"] != outcome:
        assert time.monotonic() < end, f"its last snapshot is not {outcome}"
        if not client.info("persistence")["rdb_bgsave_in_progress"]:
            client.bgsave()
        time.sleep(0.02)
