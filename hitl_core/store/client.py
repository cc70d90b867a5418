"""Connections to Redis: two clients, no retries of their own, and errors in our words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError,
)

from hitl_core.errors import SettingsError, StoreError, StoreUnavailable
from hitl_core.store.pool import Pool, to_the_end

#: redis-py types every answer as "X or an awaitable of X", for its two clients in one; so its client is
#: Any here, and each method of the store says what it makes of the answer.
Client = Any

#: A click must be stored within 2.5 s, so one command may take no longer than this.
COMMAND_TIMEOUT = 1.5
#: XREAD blocks at most this long, and its socket waits a little longer.
MAX_BLOCK = 30.0
#: Scripts that put cards into queues, or ask for the time as these do.
_QUEUEING = frozenset({"write", "take", "finish", "bury", "revive", "redraw", "slot"})


def connect(url: str, *, blocking: bool = False, connections: int = 32) -> Client:
    """A client of its own for commands that block, so that no waiting reader holds up a click.

    The client never repeats a command: one whose reply was lost would be done twice.
    """
    try:
        pool: Any = cast(Any, Pool).from_url(
            url,
            max_connections=connections,
            timeout=COMMAND_TIMEOUT,
            socket_timeout=MAX_BLOCK + 5 if blocking else COMMAND_TIMEOUT,
            socket_connect_timeout=COMMAND_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
            protocol=2,  # answers have other shapes in RESP3
        )
    except ValueError:
        # The cause may quote a part of the password, so it is not kept.
        raise SettingsError(f"The Redis address {_public(url)!r} is no redis:// URL.") from None
    return Redis.from_pool(pool)  # which it then closes


async def close(*clients: Client) -> None:
    """All of them, whatever happens. Commands that were sent are answered, others get StoreError."""
    closing = (client.aclose() for client in clients)
    await to_the_end(asyncio.gather(*closing, return_exceptions=True))


@cache
def lua(name: str) -> str:
    """The text of one script, behind what it shares with others."""
    folder = resources.files("hitl_core.store") / "lua"
    names = ("queue", name) if name in _QUEUEING else (name,)
    return "".join((folder / f"{each}.lua").read_text("utf-8") for each in names)


@asynccontextmanager
async def translated() -> AsyncGenerator[None, None]:
    """Redis's errors become ours; whether the command was done is then unknown.

    The client sends by `asyncio.wait_for`, which before Python 3.12 could swallow a cancellation
    (https://github.com/python/cpython/issues/86296): one that came meanwhile is raised here.
    """
    task = asyncio.current_task()
    cancelled = task.cancelling() if task else 0
    try:
        yield
        if task and task.cancelling() > cancelled:
            raise asyncio.CancelledError
    except OutOfMemoryError as error:
        raise StoreError("Redis is full (maxmemory): nothing new can be stored.") from error
    except (ConnectionError, TimeoutError, BusyLoadingError, OSError) as error:
        raise StoreUnavailable(f"Redis can't be reached: {_words(error)}.") from error
    except (ReadOnlyError, ClusterDownError) as error:
        raise StoreUnavailable(f"Redis can't write now: {_words(error)}.") from error
    except NoScriptError as error:  # it was restarted just after it had been given the script
        raise StoreUnavailable("Redis was restarted in between.") from error
    except ResponseError as error:
        # Of these the client makes no class; and 6.2 wraps what a script met in a sentence of its own.
        if "OOM " in str(error):
            raise StoreError("Redis is full (maxmemory): nothing new can be stored.") from error
        if any(code in str(error) for code in ("BUSY ", "MISCONF ", "READONLY ")):
            raise StoreUnavailable(f"Redis can't write now: {_words(error)}.") from error
        raise StoreError(f"Redis refused: {error}.") from error
    except RedisError as error:
        raise StoreError(f"Redis failed: {error}.") from error


async def check_server(redis: Client, url: str) -> None:
    """Raises SettingsError where reviews would not be safe: too old a server, or one that drops live keys;
    StoreUnavailable where it does not answer.
    """
    try:
        async with translated():
            info: dict[str, Any] = await redis.info()
    except (StoreUnavailable, StoreError) as error:
        raise StoreUnavailable(
            f"Redis at {_public(url)} can't be reached: {_words(error.__cause__)}."
        ) from error
    version = str(info.get("redis_version", "0"))
    if tuple(int(part) for part in version.split(".")[:2]) < (6, 2):
        raise SettingsError(f"Redis at {_public(url)} is {version}; 6.2 or later is needed.")
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy.startswith("allkeys"):
        raise SettingsError(
            f"Redis at {_public(url)} has maxmemory-policy {policy}, which can drop pending reviews."
            " Set it to noeviction."
        )


def _words(error: BaseException | None) -> str:
    return str(error).rstrip(".")


def _public(url: str) -> str:
    """Without the password."""
    without = re.sub(r"(?i)(?<=password=)[^&]*", "…", url)
    return re.sub(r"^(\w+://)?.*@", r"\1…@", without)
