"""Several Redis servers: one takes over if another dies, behind Sentinels, or in a Redis Cluster.

A failover loses writes that were acknowledged but not yet copied; `WAIT` prevents that. On one machine a copy
takes less than a millisecond, so a run rarely loses one.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster as ClusterClient

from benchmarks.chaos.servers.server import freeze_processes
from slack_sandbox.demo import DURABLE_SETTINGS, EmbeddedRedis
from tests.support.redis_servers.cluster import RedisCluster
from tests.support.redis_servers.sentinels import RedisSentinels

#: A master that is silent for this many milliseconds is replaced.
DOWN_AFTER = 2000
#: The longest pause. A frozen master that is replaced would lose the writes that it accepts when it wakes up.
LONGEST_PAUSE = 1.0


class _Replicated:
    """The common part of both. `nodes`: all servers."""

    def __init__(self, servers: RedisCluster | RedisSentinels) -> None:
        self._servers = servers

    @property
    def url(self) -> str:
        return self._servers.url

    @property
    def address(self) -> tuple[str, int]:
        return _address(self._servers.nodes[0])

    def url_through(self, port: int) -> str:
        return self.url

    async def start(self) -> None:
        await asyncio.to_thread(self._servers.start)

    async def stop(self) -> None:
        await asyncio.to_thread(self._servers.stop)

    async def crash(self) -> None:
        node = await asyncio.to_thread(self._find_master)
        await asyncio.to_thread(node.kill)
        await asyncio.sleep(2 * DOWN_AFTER / 1000)
        await asyncio.to_thread(node.start)
        await asyncio.to_thread(self._servers.wait_until_whole)

    async def freeze(self, seconds: float) -> None:
        node = await asyncio.to_thread(self._find_master)
        await freeze_processes([node.pid], min(seconds, LONGEST_PAUSE))

    async def freeze_all(self, seconds: float) -> None:
        await freeze_processes(self._servers.pids, seconds)

    async def memory(self) -> float:
        peaks: list[float] = []
        for node in self._servers.nodes:
            async with Redis.from_url(node.url) as client:
                info: dict[str, Any] = await client.info("memory")
                peaks.append(info["used_memory_peak"] / 1e6)
        return max(peaks)

    def _find_master(self) -> EmbeddedRedis:
        raise NotImplementedError


class SentinelRedis(_Replicated):
    """A master, a replica, three Sentinels."""

    def __init__(self, folder: Path) -> None:
        self._sentinels = RedisSentinels(
            folder, settings=DURABLE_SETTINGS, down_after_ms=DOWN_AFTER
        )
        super().__init__(self._sentinels)

    def _find_master(self) -> EmbeddedRedis:
        return self._sentinels.master()

    async def count(self, keys: list[str]) -> int:
        master = await asyncio.to_thread(self._find_master)
        async with Redis.from_url(master.url) as client:
            return sum([await client.hlen(key) for key in keys])


class ClusterRedis(_Replicated):
    """Three masters and three replicas. A random master is killed, because all of them have partitions."""

    def __init__(self, folder: Path) -> None:
        self._cluster = RedisCluster(folder, settings=DURABLE_SETTINGS, node_timeout_ms=DOWN_AFTER)
        super().__init__(self._cluster)

    def _find_master(self) -> EmbeddedRedis:
        return random.choice(self._cluster.masters())

    async def count(self, keys: list[str]) -> int:
        host, port = self.address
        async with ClusterClient(host=host, port=port) as client:
            return sum([await client.hlen(key) for key in keys])


def _address(node: EmbeddedRedis) -> tuple[str, int]:
    host, _, port = node.url.removeprefix("redis://").removesuffix("/0").partition(":")
    return host, int(port)
