"""The base of every part of the Redis store: the connections, the keys, and the scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hitl_core.errors import StoreError, StoreUnavailable, StoreUnwritable
from hitl_core.store.redis.connection import Client, store_errors
from hitl_core.store.redis.keys import Keys, parse_partition
from hitl_core.store.redis.scripts import read_script
from hitl_core.store.redis.server_change import ServerChange


class RedisPart:
    """`reader` is for commands that block. `retention`, in seconds, is how long done reviews are kept."""

    def __init__(
        self, redis: Client, reader: Client, keys: Sequence[Keys], retention: float
    ) -> None:
        self._redis, self._reader, self._keys = redis, reader, keys
        self._retention = retention
        self._scripts: dict[str, Any] = {}
        self._server_change = ServerChange(redis)

    async def now(self) -> float:
        async with store_errors():
            seconds, micros = await self._redis.time()
        return int(seconds) + int(micros) / 1e6

    async def _run_script(self, name: str, keys: Sequence[str], args: Sequence[Any] = ()) -> Any:
        try:
            async with store_errors():
                return await self._script(name)(keys=keys, args=args)
        except StoreUnwritable:
            raise
        except StoreUnavailable:
            self._server_change.is_possible = True
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
