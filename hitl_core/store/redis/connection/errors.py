"""Translates the errors of Redis and redis-py into ours."""

from __future__ import annotations

import asyncio
import os
import re
import ssl

from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterCrossSlotError,
    ClusterDownError,
    ConnectionError,
    MasterDownError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError,
    TryAgainError,
)

from hitl_core.errors import (
    HitlError,
    StoreError,
    StoreForbidden,
    StoreUnavailable,
    StoreUnwritable,
)
from hitl_core.store.redis.connection.causes import causes
from hitl_core.store.redis.connection.pool import NO_CONNECTION


class WrongType(StoreError):
    """A key has a value of another type: it is damaged, or another program wrote it."""


class store_errors:  # a function to its users; as a generator it would take three times as long
    """`async with store_errors():` translates Redis errors into ours. After such an error the command may
    have been executed.

    redis-py sends with `asyncio.wait_for`, which can swallow a cancellation before Python 3.12
    (https://github.com/python/cpython/issues/86296). A swallowed cancellation is raised here.
    """

    __slots__ = ("_cancelled", "_task")

    async def __aenter__(self) -> None:
        self._task = asyncio.current_task()
        self._cancelled = self._task.cancelling() if self._task else 0

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            if self._task and self._task.cancelling() > self._cancelled:
                raise asyncio.CancelledError
        elif isinstance(error, RedisError | OSError):
            raise translate_error(error) from error


def translate_error(error: Exception) -> HitlError:
    """An error of Redis, of redis-py or of the connection as ours."""
    if isinstance(error, ConnectionError | TimeoutError | OSError):
        return StoreUnavailable(f"Redis can't be reached: {_reason(error)}.")
    if isinstance(error, NoScriptError):  # Redis restarted between SCRIPT LOAD and EVALSHA
        return StoreUnavailable("Redis was restarted during a command.")
    if not isinstance(error, ResponseError):
        return StoreError(f"Redis failed: {error}.")
    code = _code(error)
    if code in _UNWRITABLE:
        return StoreUnwritable(f"{_UNWRITABLE[code]} ({code}).")
    if code in _TEMPORARY:
        return StoreUnavailable(f"Redis can't answer now: {_TEMPORARY[code]} ({code}).")
    if "WRONGTYPE" in str(error):
        named = _FOREIGN_KEY.match(str(error))
        return WrongType(
            f"{f'The key {named[1]}' if named else 'A key'} in Redis has a value of another type: it is"
            " damaged, or another program wrote it. docs/redis.md, Keys, has the type that it"
            " must have."
        )
    return _refusal(error, code)


def _refusal(error: ResponseError, code: str) -> HitlError:
    if code in _CLUSTER:
        return StoreError(
            f"This Redis is a node of a Redis Cluster: use a redis+cluster:// URL ({code})."
        )
    if isinstance(error, NoPermissionError) or _NO_PERMISSION.search(str(error)):
        return StoreForbidden(
            f"Redis refuses a command or a key to the user of the URL: {error}. docs/redis.md, ACL"
            " users, has the permissions that are needed."
        )
    return StoreError(f"Redis refused: {error}.")


#: The error codes of a server that takes no writes now, and the text for people. The caller retries later.
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
    "UNBLOCKED": "it became a replica",
    # Not codes, but how these replies begin after "ERR".
    "Script killed": "an operator ended a script",
    "max number of clients": "it has too many clients",
    "unauthenticated": "it wants a password",  # a long command over a connection without one
}
_CLUSTER = ("MOVED", "ASK", "CROSSSLOT")
#: The reply of types.lua. Redis's own reply to a command doesn't name the key.
_FOREIGN_KEY = re.compile(r"WRONGTYPE (hitl:\S+)")
#: Redis's words for a script whose user lacks a permission: before 7.0, 7.0, and later.
_NO_PERMISSION = re.compile(r"NOPERM|executing the script can't|ACL failure in script")
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


_REASONS: dict[type[BaseException], str] = {
    BusyLoadingError: _TEMPORARY["LOADING"],
    AuthenticationError: "it refuses the user or the password",
    MasterNotFoundError: "no Sentinel names a master that answers",
}
#: X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH of OpenSSL.
_OTHER_HOST = (62, 64)
_ERRNO = re.compile(r"\[Errno (\d+)\]")


def _reason(error: BaseException | None) -> str:
    """Why there was no reply, without host, port or address, because `/readyz` shows it to anyone."""
    for kind, reason in _REASONS.items():
        if isinstance(error, kind):
            return reason
    if str(error) == NO_CONNECTION:
        return NO_CONNECTION.rstrip(".").lower()
    if "max number of clients" in str(error):
        return "it has too many clients"
    if "previous master is now a slave" in str(
        error
    ):  # redis-py's words for READONLY, behind Sentinels
        return "a Sentinel named a replica, or the master became one a moment ago"
    for cause in causes(error):
        if found := _reason_of_cause(cause):
            return found
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "it did not answer in time"
    return "the connection failed or was lost"


def _reason_of_cause(cause: BaseException) -> str:
    """What one of the causes says; "" if nothing."""
    match cause:
        case ssl.SSLCertVerificationError(verify_code=code, verify_message=text):
            # The text about another host names it.
            is_other = code in _OTHER_HOST
            return f"its certificate is {'made out to another host' if is_other else f'refused ({text})'}"
        case ssl.SSLError():
            return f"TLS failed ({(cause.reason or 'no reason').replace('_', ' ').lower()})"
        case OSError():
            # asyncio's own text contains the address; for several addresses it joins several texts.
            match = _ERRNO.search(f"[Errno {cause.errno}] {cause}")
            return (os.strerror(int(match[1])) if match else cause.strerror or "").lower()
        case _:
            return ""
