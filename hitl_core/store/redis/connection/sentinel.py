"""Connections to the master that Sentinels name. Each new connection asks them again."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from redis.asyncio import Connection, Redis, SSLConnection
from redis.asyncio.sentinel import (
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from hitl_core.store.redis.connection.pool import Pool
from hitl_core.store.redis.connection.url import RedisUrl


def make_sentinels(url: RedisUrl, **options: Any) -> Sentinel:
    """The Sentinels of this URL. The URL's TLS options hold for them too."""
    tls = {key: each for key, each in url.options.items() if key.startswith("ssl_")}
    kind = SSLConnection if url.has_tls else Connection
    options = {**options, **tls, **url.sentinel_options, "connection_class": kind}
    sentinels = _Sentinels([])
    # With our pool: redis-py's leaves a socket open if its task is cancelled while it connects.
    sentinels.sentinels = [
        Redis.from_pool(cast(Any, Pool)(**options, host=host, port=port))
        for host, port in url.hosts
    ]
    return sentinels


class _Sentinels(Sentinel):
    """Sentinels that only one task asks at a time. redis-py moves the Sentinel that answered to the front of
    its list, by its earlier position: with several tasks, one Sentinel could overwrite another in the list.
    """

    def __init__(self, *args: Any) -> None:
        cast(Any, super()).__init__(*args)
        self._turn = asyncio.Lock()

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        async with self._turn:
            return await cast(Any, super()).discover_master(service_name)


class SentinelPool(Pool, SentinelConnectionPool):
    """Our pool, of redis-py's connections to the master `name`."""

    def __init__(self, name: str, sentinels: Sentinel, has_tls: bool, **options: Any) -> None:
        kind = SentinelManagedSSLConnection if has_tls else SentinelManagedConnection
        cast(Any, super()).__init__(name, sentinels, **{**options, "connection_class": kind})

    async def aclose(self) -> None:
        await super().aclose()
        sentinels: Any = self.sentinel_manager
        for sentinel in sentinels.sentinels:
            await sentinel.aclose()
