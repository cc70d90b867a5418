"""Checks that a server is suitable, before anything is stored in it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from hitl_core.errors import HitlError, SettingsError, StoreError, StoreUnavailable
from hitl_core.store.redis.connection.client import Client
from hitl_core.store.redis.connection.cluster import ClusterClient
from hitl_core.store.redis.connection.errors import store_errors
from hitl_core.store.redis.connection.url import RedisUrl


async def servers_of(redis: Client) -> list[Client]:
    """A client of each server that has keys: of each master of a cluster."""
    return await redis.masters() if isinstance(redis, ClusterClient) else [redis]


async def servers_for(redis: Client, key: str) -> list[Client]:
    """For SCAN, which looks at all keys of a server: the server that has this key; in a cluster then the
    others, which may have a part of its slot while that is moved.
    """
    if not isinstance(redis, ClusterClient):
        return [redis]
    owner = await redis.client_of(key)
    return [owner, *(each for each in await redis.masters() if each is not owner)]


async def execute_both(redis: Client, first: Sequence[Any], then: Sequence[Any]) -> Any:
    """Execute two commands over one connection, so on one server. Returns both replies."""
    if isinstance(redis, ClusterClient):
        return await redis.execute_both(first, then)
    async with redis.pipeline(transaction=False) as pipe:
        pipe.execute_command(*first)
        pipe.execute_command(*then)
        return await pipe.execute()


async def check_server(redis: Client, url: RedisUrl) -> None:
    """Raises SettingsError for a server that is too old, could drop pending reviews, or needs another kind of
    URL; StoreUnavailable when it doesn't answer.
    """
    try:
        async with store_errors():
            servers = await servers_of(redis)
        infos = await _read_infos(servers)
    except (StoreUnavailable, StoreError) as error:
        error = await _explain(redis, url, error)
        # The causes only add a hundred lines of traceback.
        message = str(error).replace("Redis", f"Redis at {url}", 1)
        raise StoreUnavailable(message) from None
    for info in infos:
        _check_mode(info, url)
        _check_info(info, url)


async def _read_infos(servers: Sequence[Client]) -> list[dict[str, Any]]:
    """INFO of each server, of all at the same time. Raises StoreUnavailable, StoreError."""
    answers = await asyncio.gather(*map(_read_info, servers))
    infos = [answer for answer in answers if isinstance(answer, dict)]
    failures = {
        _address_of(server): answer
        for server, answer in zip(servers, answers, strict=True)
        if isinstance(answer, HitlError)
    }
    if failures and not infos:
        raise next(iter(failures.values()))
    if failures:
        reasons = "; ".join(
            f"{address}: {error}".rstrip(".") for address, error in failures.items()
        )
        raise StoreUnavailable(
            f"Redis lacks {len(failures)} of its {len(servers)} masters, and a program that starts needs all"
            f" of them ({reasons}). Look at CLUSTER NODES."
        )
    return infos


async def _read_info(server: Client) -> dict[str, Any] | HitlError:
    try:
        async with store_errors():
            return cast(dict[str, Any], await server.info())
    except HitlError as error:
        return error


def _address_of(server: Client) -> str:
    options = server.connection_pool.connection_kwargs
    return f"{options.get('host')}:{options.get('port')}"


def _check_info(info: dict[str, Any], url: RedisUrl) -> None:
    version = str(info.get("redis_version", "0"))
    if tuple(int(part) for part in version.split(".")[:2]) < (6, 2):
        raise SettingsError(f"Redis at {url} is {version}; 6.2 or later is needed.")
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy.startswith("allkeys"):
        raise SettingsError(
            f"Redis at {url} has maxmemory-policy {policy}, which can drop pending reviews."
            " Set it to noeviction."
        )


def _check_mode(info: dict[str, Any], url: RedisUrl) -> None:
    if url.kind != "single":
        return
    match info.get("redis_mode"):
        case "cluster":
            raise SettingsError(
                f"Redis at {url} is a node of a Redis Cluster: use {url.like('cluster')}."
            )
        case "sentinel":
            names = sorted(each["name"] for each in _masters_in(info))
            raise SettingsError(
                f"Redis at {url} is a Sentinel: use {url.like('sentinel', *names[:1])}."
            )
        case _:
            pass


def _masters_in(info: dict[str, Any]) -> list[dict[str, Any]]:
    """The masters that a Sentinel watches, from its INFO: `master0:name=…,status=ok,…`."""
    return [each for key, each in info.items() if key.startswith("master") and key[6:].isdigit()]


async def _explain(redis: Client, url: RedisUrl, error: HitlError) -> HitlError:
    """Why no server was found: `error`, or why no Sentinel answers. Raises a clearer error if the URL is of
    the wrong kind, or names an unknown master.
    """
    text = str(error).lower()
    if url.kind == "cluster" and ("cluster support disabled" in text or "unknown command" in text):
        raise SettingsError(
            f"Redis at {url} is no node of a Redis Cluster: use {url.like('single')}."
        ) from None
    if url.kind != "sentinel":
        return error
    if "unknown command" in text:
        raise SettingsError(f"Redis at {url} is no Sentinel: use {url.like('single')}.") from None
    reasons, answered = set[str](), False
    for sentinel in redis.connection_pool.sentinel_manager.sentinels:
        try:
            async with store_errors():
                names = sorted(cast(dict[str, Any], await sentinel.sentinel_masters()))
        except (StoreUnavailable, StoreError) as failure:
            reasons.add(str(failure))
            continue
        answered = True
        if names and url.name not in names:
            raise SettingsError(
                f"The Sentinels at {url} know no master {url.name!r}. They know: {', '.join(names)}."
            ) from None
    return error if answered else StoreUnavailable(" ".join(sorted(reasons)))
