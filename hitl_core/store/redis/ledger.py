"""The audit in Redis: every partition has a stream of entries and a stream of anchors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hitl_core.audit import Anchor, Entry, parse_position
from hitl_core.store.redis.client import Client, read_script, store_errors
from hitl_core.store.redis.keys import Keys

StreamEntries = list[tuple[bytes, dict[bytes, bytes]]]


class RedisLedger:
    """See `Ledger` for the methods. In its stream, an anchor has the id of its last entry."""

    def __init__(self, redis: Client, keys: Sequence[Keys], retention: float) -> None:
        self.retention = retention
        self._redis, self._keys = redis, keys
        self._anchor = redis.register_script(read_script("anchor"))

    async def entries(self, partition: int, after: str = "", limit: int = 1000) -> list[Entry]:
        raw = await self._range(self._keys[partition].audit, after, limit)
        return [
            Entry(f"{partition}:{id.decode()}", fields[b"event"].decode()) for id, fields in raw
        ]

    async def anchors(self, partition: int, after: str = "", limit: int = 1000) -> list[Anchor]:
        raw = await self._range(self._keys[partition].anchors, after, limit)
        return [Anchor.model_validate_json(fields[b"anchor"]) for _, fields in raw]

    async def last_anchor(self, partition: int) -> Anchor | None:
        async with store_errors():
            raw = cast(
                StreamEntries, await self._redis.xrevrange(self._keys[partition].anchors, count=1)
            )
        return Anchor.model_validate_json(raw[0][1][b"anchor"]) if raw else None

    async def add_anchor(self, partition: int, anchor: Anchor) -> bool:
        async with store_errors():
            added = await self._anchor(
                keys=[self._keys[partition].anchors],
                args=[anchor.prev, _stream_id(anchor.last), anchor.root, anchor.to_line()],
            )
        return bool(added)

    async def last_export(self, partition: int) -> Anchor | None:
        async with store_errors():
            line = await self._redis.get(self._keys[partition].last_export)
        return Anchor.model_validate_json(line) if line else None

    async def mark_exported(self, partition: int, anchor: Anchor) -> None:
        known = await self.last_export(partition)
        if known is None or parse_position(anchor.last) > parse_position(known.last):
            async with store_errors():
                await self._redis.set(self._keys[partition].last_export, anchor.to_line())

    async def trim(self, partition: int, anchor: Anchor) -> None:
        keys, last = self._keys[partition], _stream_id(anchor.last)
        milliseconds, _, number = last.partition("-")
        async with store_errors():
            await self._redis.xtrim(
                keys.audit, minid=f"{milliseconds}-{int(number) + 1}", approximate=False
            )
            await self._redis.xtrim(keys.anchors, minid=last, approximate=False)

    async def _range(self, stream: str, after: str, limit: int) -> StreamEntries:
        start = f"({_stream_id(after)}" if after else "-"
        async with store_errors():
            return cast(StreamEntries, await self._redis.xrange(stream, start, "+", count=limit))


def _stream_id(entry: str) -> str:
    return entry.partition(":")[2]
