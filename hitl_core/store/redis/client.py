"""Connections to Redis: clients that never retry, and the translation of Redis errors into ours."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterCrossSlotError,
    ClusterDownError,
    ConnectionError,
    MasterDownError,
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError,
    TryAgainError,
)

from hitl_core.errors import SettingsError, StoreError, StoreUnavailable, StoreUnwritable
from hitl_core.store.redis.pool import NO_CONNECTION, Pool, run_to_end

#: redis-py types every reply as "X or an awaitable of X", because its sync and async clients share types. So
#: the client is Any here, and each method of the store gives the reply its type.
Client = Any

#: A click must be stored within 2.5 s, so one command must not take longer than this, in seconds.
COMMAND_TIMEOUT = 1.5
#: XREAD blocks for at most this many seconds; its socket waits a little longer.
MAX_BLOCK = 30.0
#: The scripts that use the functions of queue.lua.
_QUEUE_SCRIPTS = frozenset({"write", "take", "finish", "dead_letter", "requeue", "redraw", "slot"})


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
            f"The Redis address {_hide_password(url)!r} is not a redis:// URL."
        ) from None
    return Redis.from_pool(pool)  # this client closes the pool


async def close_clients(*clients: Client) -> None:
    """Close all clients, even if one fails. Commands that were sent get their reply, others StoreError."""
    closing = (client.aclose() for client in clients)
    await run_to_end(asyncio.gather(*closing, return_exceptions=True))


@cache
def read_script(name: str) -> str:
    """The text of a script, with queue.lua in front if the script needs it."""
    folder = resources.files("hitl_core.store.redis") / "lua"
    names = ("queue", name) if name in _QUEUE_SCRIPTS else (name,)
    return "".join((folder / f"{each}.lua").read_text("utf-8") for each in names)


@asynccontextmanager
async def store_errors() -> AsyncGenerator[None, None]:
    """Translate Redis errors into ours. It is not known then whether the command was done.

    redis-py sends with `asyncio.wait_for`, which can swallow a cancellation before Python 3.12
    (https://github.com/python/cpython/issues/86296). A swallowed cancellation is raised here.
    """
    task = asyncio.current_task()
    cancelled = task.cancelling() if task else 0
    try:
        yield
        if task and task.cancelling() > cancelled:
            raise asyncio.CancelledError
    except (ConnectionError, TimeoutError, OSError) as error:
        raise StoreUnavailable(f"Redis can't be reached: {_reason(error)}.") from error
    except NoScriptError as error:  # Redis restarted between SCRIPT LOAD and EVALSHA
        raise StoreUnavailable("Redis was restarted during a command.") from error
    except ResponseError as error:
        code = _code(error)
        if code in _UNWRITABLE:
            raise StoreUnwritable(f"{_UNWRITABLE[code]} ({code}).") from error
        if code in _TEMPORARY:
            raise StoreUnavailable(
                f"Redis can't answer now: {_TEMPORARY[code]} ({code})."
            ) from error
        if code in _CLUSTER:
            message = (
                f"This Redis is one of several nodes of a cluster, which is not supported ({code})."
            )
            raise StoreError(message) from error
        raise StoreError(f"Redis refused: {error}.") from error
    except RedisError as error:
        raise StoreError(f"Redis failed: {error}.") from error


#: Error codes of a server that takes no writes now. We retry later, and people get this text.
_UNWRITABLE = {
    "OOM": "Redis is full (maxmemory): nothing new can be stored",
    "MISCONF": "Redis can't write now: it fails to save its data to disk",
    "NOREPLICAS": "Redis can't write now: too few replicas follow it",
    "READONLY": "Redis can't write now: this server is a replica",
    "MASTERDOWN": "Redis can't write now: this server is a replica, and its primary is down",
    "CLUSTERDOWN": "Redis can't write now: its cluster is down",
}
_TEMPORARY = {
    "BUSY": "a script runs for too long",
    "LOADING": "it is loading its data",
    "TRYAGAIN": "its cluster is being changed",
}
_CLUSTER = ("MOVED", "ASK", "CROSSSLOT")
#: The code is at the beginning of the reply, or inside the text that Redis 6.2 gives for a script's error.
_CODE = re.compile(r"(?:^|[ -])(" + "|".join([*_UNWRITABLE, *_TEMPORARY, *_CLUSTER]) + ") ")


def _code(error: ResponseError) -> str:
    """The code of a reply such as "NOREPLICAS Not enough good replicas to write."; "" for any other reply."""
    if code := _CODES_BY_CLASS.get(type(error)):
        return code
    match = _CODE.search(str(error))
    return match[1] if match else ""


#: redis-py turns these codes into classes, and removes the code from the text.
_CODES_BY_CLASS: dict[type[BaseException], str] = {
    OutOfMemoryError: "OOM",
    ReadOnlyError: "READONLY",
    ClusterDownError: "CLUSTERDOWN",
    MasterDownError: "MASTERDOWN",
    TryAgainError: "TRYAGAIN",
    MovedError: "MOVED",
    AskError: "ASK",
    ClusterCrossSlotError: "CROSSSLOT",
}


_ERRNO = re.compile(r"\[Errno (\d+)\]")


def _reason(error: BaseException | None) -> str:
    """Why there was no reply, without host, port or address, because `/readyz` shows it to anyone."""
    if isinstance(error, BusyLoadingError):
        return _TEMPORARY["LOADING"]
    if isinstance(error, AuthenticationError):
        return "it refuses the user or the password"
    if str(error) == NO_CONNECTION:
        return NO_CONNECTION.rstrip(".").lower()
    if "max number of clients" in str(error):
        return "it has too many clients"
    cause = error
    while cause is not None:
        if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError):
            # asyncio's own text contains the address; for several addresses it joins several texts.
            match = _ERRNO.search(f"[Errno {cause.errno}] {cause}")
            if match:
                return os.strerror(int(match[1])).lower()
            if cause.strerror:
                return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "it did not answer in time"
    return "the connection failed or was lost"


async def check_server(redis: Client, url: str) -> None:
    """Raises SettingsError for a server that is too old, or that could drop pending reviews; StoreUnavailable
    when it doesn't answer.
    """
    try:
        async with store_errors():
            info: dict[str, Any] = await redis.info()
    except (StoreUnavailable, StoreError) as error:
        # The causes only add a hundred lines of traceback.
        message = str(error).replace("Redis", f"Redis at {_hide_password(url)}", 1)
        raise StoreUnavailable(message) from None
    version = str(info.get("redis_version", "0"))
    if tuple(int(part) for part in version.split(".")[:2]) < (6, 2):
        raise SettingsError(f"Redis at {_hide_password(url)} is {version}; 6.2 or later is needed.")
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy.startswith("allkeys"):
        raise SettingsError(
            f"Redis at {_hide_password(url)} has maxmemory-policy {policy}, which can drop pending reviews."
            " Set it to noeviction."
        )


def _hide_password(url: str) -> str:
    """The URL without user and password."""
    without = re.sub(r"(?i)(?<=password=)[^&]*", "…", url)
    return re.sub(r"^(\w+://)?.*@", r"\1…@", without)
