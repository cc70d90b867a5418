"""Clients that never repeat a command."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from hitl_core.store.redis.connection.batches import BatchingRedis
from hitl_core.store.redis.connection.cluster import ClusterClient
from hitl_core.store.redis.connection.pool import Pool
from hitl_core.store.redis.connection.sentinel import SentinelPool, make_sentinels
from hitl_core.store.redis.connection.slot_map import SlotMap
from hitl_core.store.redis.connection.url import RedisUrl, parse_redis_url
from hitl_core.tasks import run_to_end

#: redis-py types every reply as "X or an awaitable of X", because its sync and async clients share types. So
#: the client is Any here, and each method of the store gives the reply its type.
Client = Any

#: A click must be stored within 2.5 s, so one command must not take longer than this, in seconds.
COMMAND_TIMEOUT = 1.5
#: XREAD blocks for at most this many seconds; its socket waits a little longer.
MAX_BLOCK = 30.0
#: How long a node or a Sentinel may take to say where the keys are, in seconds.
_DISCOVERY_TIMEOUT = 1.0
#: In a cluster each stream that is read needs a connection of its own.
_READERS_OF_A_CLUSTER = 1024


def connect(url: RedisUrl | str, *, blocking: bool = False, connections: int = 32) -> Client:
    """A client. Commands that block need a client of their own (`blocking`), so that a waiting read never
    delays a click. `connections` is the most that it opens to one server.

    The client never repeats a command: if only the reply was lost, the command would be done twice.
    Raises SettingsError for a URL that can't be read.
    """
    url = parse_redis_url(url) if isinstance(url, str) else url
    if blocking and url.kind == "cluster":
        connections = _READERS_OF_A_CLUSTER
    options: dict[str, Any] = {
        "max_connections": connections,
        "timeout": COMMAND_TIMEOUT,
        "socket_timeout": MAX_BLOCK + 5 if blocking else COMMAND_TIMEOUT,
        "socket_connect_timeout": COMMAND_TIMEOUT,
        **_never_repeat(),
        **url.options,
    }
    match url.kind:
        case "single":
            # This client closes the pool.
            return BatchingRedis.from_pool(cast(Any, Pool)(**options))
        case "sentinel":
            sentinels = make_sentinels(
                url, max_connections=connections, timeout=COMMAND_TIMEOUT, **_discovery()
            )
            return BatchingRedis.from_pool(
                SentinelPool(url.name, sentinels, url.has_tls, **options)
            )
        case "cluster":
            slots = SlotMap(url, **_discovery())
            return ClusterClient(
                slots,
                lambda host, port: BatchingRedis.from_pool(
                    cast(Any, Pool)(**{**options, "host": host, "port": port})
                ),
            )


def _never_repeat() -> dict[str, Any]:
    # Replies have other shapes in RESP3.
    return {"retry": Retry(NoBackoff(), 0), "protocol": 2}


def _discovery() -> dict[str, Any]:
    timeout = min(_DISCOVERY_TIMEOUT, COMMAND_TIMEOUT)
    return {"socket_timeout": timeout, "socket_connect_timeout": timeout, **_never_repeat()}


async def close_clients(*clients: Client) -> None:
    """Close all clients, even if one fails. Commands that were sent get their reply, others StoreError."""
    closing = (client.aclose() for client in clients)
    await run_to_end(asyncio.gather(*closing, return_exceptions=True))
