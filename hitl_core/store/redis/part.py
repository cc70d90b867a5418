"""The base of every part of the Redis store: the connections, the keys, and the scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from hitl_core.errors import StoreError, StoreUnavailable, StoreUnwritable
from hitl_core.store.redis.connection import Client, ClusterClient, store_errors
from hitl_core.store.redis.keys import Keys, parse_partition
from hitl_core.store.redis.scripts import read_script
from hitl_core.store.redis.server_change import ServerChange

T = TypeVar("T")


class RedisPart:
    """`reader` is for commands that block. `retention`, in seconds, is how long done reviews are kept."""

    def __init__(
        self, redis: Client, reader: Client, keys: Sequence[Keys], retention: float
    ) -> None:
        self._redis, self._reader, self._keys = redis, reader, keys
        self._is_cluster = isinstance(redis, ClusterClient)
        self._retention = retention
        self._scripts: dict[str, Any] = {}
        self._server_change = ServerChange(redis, keys)

    async def now(self) -> float:
        try:
            async with store_errors():
                seconds, micros = await self._redis.time()
        except StoreUnavailable:
            if not self._is_cluster:
                raise
            async with store_errors():  # another server answers now
                seconds, micros = await self._redis.time()
        return int(seconds) + int(micros) / 1e6

    async def missing_partitions(self) -> set[int]:
        try:
            everywhere = enumerate(keys.live_reviews for keys in self._keys)
            away = {one for one, key in everywhere if await self._is_away(key)}
        except StoreUnavailable:  # no server says which one has which key
            return set()
        return away if len(away) < len(self._keys) else set()

    async def _ask_each(
        self, ask: Callable[[int], Awaitable[T]], missing: set[int] | None = None
    ) -> list[T]:
        """The answers of all partitions. Raises StoreUnavailable if one gives none. In a Redis Cluster, a
        caller can pass `missing`: the partitions that give none are added to it, and only if all give none
        is it an error.
        """
        everywhere = range(len(self._keys))
        if missing is None or not self._is_cluster:
            return [await ask(one) for one in everywhere]
        # Without those that each call would wait for, and at the same time, so that one holds up no other.
        away = await self.missing_partitions()
        asked = [one for one in everywhere if one not in away]
        answers = await asyncio.gather(*map(ask, asked), return_exceptions=True)
        found = dict[int, T]()
        failure: BaseException | None = None
        for partition, answer in zip(asked, answers, strict=True):
            if not isinstance(answer, BaseException):
                found[partition] = answer
            elif isinstance(answer, StoreUnavailable):
                failure = failure or answer
            else:
                raise answer
        if failure is not None and not found:
            raise failure
        missing.update(one for one in everywhere if one not in found)
        return list(found.values())

    async def _is_away(self, key: str) -> bool:
        """Whether no server of a Redis Cluster has this key, or it gave no answer a moment ago."""
        async with store_errors():
            return self._is_cluster and await self._redis.is_away(key)

    async def _run_script(self, name: str, keys: Sequence[str], args: Sequence[Any] = ()) -> Any:
        try:
            async with store_errors():
                return await self._script(name)(keys=keys, args=args)
        except StoreUnwritable:
            raise
        except StoreUnavailable:
            self._server_change.suspect()
            raise

    def _script(self, name: str) -> Any:
        """The script NAME.lua, registered once."""
        if name not in self._scripts:
            self._scripts[name] = self._redis.register_script(read_script(name))
        return self._scripts[name]

    def _find_keys(self, review_id: str) -> Keys | None:
        partition = parse_partition(review_id)
        if partition is None or partition >= len(self._keys):
            return None
        return self._keys[partition]

    def _require_keys(self, review_id: str) -> Keys:
        if (keys := self._find_keys(review_id)) is None:
            raise StoreError(f"{review_id!r} is not the id of a review in this store.")
        return keys
