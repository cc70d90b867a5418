"""A Redis whose disk is full: the kernel refuses to let its append-only file grow."""

from __future__ import annotations

import resource
from pathlib import Path

from slack_sandbox.demo.embedded_redis import DURABLE_SETTINGS, EmbeddedRedis
from tests.support.redis_servers.lost_writes import aof_size
from tests.support.redis_servers.server import executable_under_test

#: The bytes that can still be written: less than one review, so the first write is cut off.
_ROOM = 100


class FullDiskRedis(EmbeddedRedis):
    """`fill_disk` and `free_disk` change the limit. A new `start` has free space again."""

    def __init__(self, folder: Path, fsync: str) -> None:
        folder.mkdir()
        starter = folder / "redis-server"
        # At a file's size limit, the kernel sends SIGXFSZ, which ends a program that does not ignore it.
        starter.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec '{executable_under_test()}' \"$@\"\n")
        starter.chmod(0o700)
        settings = {**DURABLE_SETTINGS, "appendfsync": fsync}
        super().__init__(folder / "data", executable=starter, settings=settings)

    def fill_disk(self) -> None:
        self._limit(aof_size(self) + _ROOM)

    def free_disk(self) -> None:
        self._limit(resource.RLIM_INFINITY)

    def _limit(self, size: int) -> None:
        assert self.pid is not None
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
