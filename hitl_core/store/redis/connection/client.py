"""Clients that never repeat a command."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from hitl_core.errors import SettingsError
from hitl_core.store.redis.connection.pool import Pool, run_to_end
from hitl_core.store.redis.connection.url import hide_password

#: redis-py types every reply as "X or an awaitable of X", because its sync and async clients share types. So
#: the client is Any here, and each method of the store gives the reply its type.
Client = Any

#: A click must be stored within 2.5 s, so one command must not take longer than this, in seconds.
COMMAND_TIMEOUT = 1.5
#: XREAD blocks for at most this many seconds; its socket waits a little longer.
MAX_BLOCK = 30.0


def connect(url: str, *, blocking: bool = False, connections: int = 32) -> Client:
    """A client. Commands that block need a client of their own (`blocking`), so that a waiting read never
    delays a click.

    The client never repeats a command: if only the reply was lost, the command would be done twice.
    """
    try:
        pool: Any = cast(Any, Pool).from_url(
            url,
            max_connections=connections,
            timeout=COMMAND_TIMEOUT,
            socket_timeout=MAX_BLOCK + 5 if blocking else COMMAND_TIMEOUT,
            socket_connect_timeout=COMMAND_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
            protocol=2,  # replies have other shapes in RESP3
        )
    except ValueError:
        # The cause may contain a part of the password, so it is dropped.
        raise SettingsError(
            f"The Redis address {hide_password(url)!r} is not a redis:// URL."
        ) from None
    return Redis.from_pool(pool)  # this client closes the pool


async def close_clients(*clients: Client) -> None:
    """Close all clients, even if one fails. Commands that were sent get their reply, others StoreError."""
    closing = (client.aclose() for client in clients)
    await run_to_end(asyncio.gather(*closing, return_exceptions=True))
