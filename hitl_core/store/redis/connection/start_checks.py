"""Finds what is unsafe about a Redis that may still be used, and warns its operators. `check_server` refuses
a Redis that can't be used.

A managed service may not permit CONFIG; INFO has most of it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

from hitl_core.errors import StoreError, StoreForbidden
from hitl_core.store.redis.connection.client import Client
from hitl_core.store.redis.connection.errors import store_errors
from hitl_core.store.redis.connection.server import servers_of

#: A larger difference between this machine's clock and Redis's is reported, in seconds.
MAX_SKEW = 5.0
#: Whether to warn about a Redis that saves nothing to disk. Tests use such servers.
CHECK_DISK = True

#: The settings that are read. Redis 6.2 takes one pattern in a command.
SETTINGS = ("append*", "save", "cluster-require-full-coverage")

Subject = Literal["disk", "eviction", "clock", "cluster"]


class StartWarning(NamedTuple):
    """A warning for operators. `text` says what is wrong and what to do."""

    subject: Subject
    text: str


async def find_warnings(redis: Client) -> tuple[StartWarning, ...]:
    """The warnings about each master. Raises StoreUnavailable."""
    async with store_errors():
        servers = await servers_of(redis)
    found = [warning for server in servers for warning in await _find_warnings(server)]
    return tuple({warning.subject: warning for warning in found}.values())


async def _find_warnings(redis: Client) -> list[StartWarning]:
    info = cast(Mapping[str, Any], await _ask(redis, "info") or {})
    config = await _read_config(redis)
    async with store_errors():
        seconds, micros = await redis.time()
    skew = time.time() - (int(seconds) + int(micros) / 1e6)
    texts: dict[Subject, str] = {
        "disk": _disk_text(info, config) if CHECK_DISK else "",
        "eviction": _eviction_text(info),
        "clock": _clock_text(skew),
        "cluster": _cluster_text(info, config),
    }
    return [StartWarning(subject, text) for subject, text in texts.items() if text]


async def _read_config(redis: Client) -> Mapping[str, str] | None:
    """None if Redis doesn't permit the command."""
    config = dict[str, str]()
    for pattern in SETTINGS:
        found = await _ask(redis, "config_get", pattern)
        if found is None:
            return None
        config |= cast(Mapping[str, str], found)
    return config


async def _ask(redis: Client, command: str, *args: str) -> object:
    """None if Redis doesn't permit the command, or doesn't know it."""
    try:
        async with store_errors():
            return await getattr(redis, command)(*args)
    except (StoreError, StoreForbidden):
        return None


def _disk_text(info: Mapping[str, Any], config: Mapping[str, str] | None) -> str:
    if info.get("aof_enabled") == 0:
        snapshots = config is None or bool(config.get("save"))
        lost = "what happened since its last snapshot" if snapshots else "everything"
        return (
            f"Redis has no append-only file: a restart loses {lost}. Set appendonly to yes and appendfsync to"
            " always."
        )
    if config is not None and config.get("appendfsync") == "no":
        return (
            "Redis has appendfsync no: a power cut can lose decisions of the last half minute. Set it to"
            " always."
        )
    return ""


def _eviction_text(info: Mapping[str, Any]) -> str:
    policy = str(info.get("maxmemory_policy", ""))
    if not policy.startswith("volatile"):
        return ""
    return (
        f"Redis has maxmemory-policy {policy}: when it is full it forgets reviews that are done, and a turn"
        " that its agent submits again can run again. Set it to noeviction."
    )


def _clock_text(skew: float) -> str:
    if abs(skew) <= MAX_SKEW:
        return ""
    return (
        f"This machine's clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} Redis's. Deadlines"
        " follow Redis's clock; from 300 s on, Slack's clicks are refused. Synchronize the clocks."
    )


def _cluster_text(info: Mapping[str, Any], config: Mapping[str, str] | None) -> str:
    coverage = (config or {}).get("cluster-require-full-coverage")
    if not info.get("cluster_enabled") or coverage != "yes":
        return ""
    return (
        "Redis has cluster-require-full-coverage yes: when one master fails, all others refuse their reviews"
        " too. Set it to no on each node."
    )
