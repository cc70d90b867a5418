"""The audit in Redis: a stream of entries and a stream of anchors in every partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hitl_core.audit.anchor import Anchor, place_of
from hitl_core.store.client import Client, lua, translated
from hitl_core.store.keys import Keys
from hitl_core.store.ledger import Entry

Raw = list[tuple[bytes, dict[bytes, bytes]]]


class RedisLedger:
    """See `Ledger` for what each method promises. In its stream an anchor has its last entry's id."""

    def __init__(self, redis: Client, keys: Sequence[Keys], retention: float) -> None:
        self.retention = retention
        self._redis, self._keys = redis, keys
        self._anchor = redis.register_script(lua("anchor"))

    async def entries(self, partition: int, after: str = "", limit: int = 1000) -> list[Entry]:
        raw = await self._range(self._keys[partition].audit, after, limit)
        return [Entry(f"{partition}:{id.decode()}", said[b"event"].decode()) for id, said in raw]

    async def anchors(self, partition: int, after: str = "", limit: int = 1000) -> list[Anchor]:
        raw = await self._range(self._keys[partition].anchors, after, limit)
        return [Anchor.model_validate_json(said[b"anchor"]) for _, said in raw]

    async def last_anchor(self, partition: int) -> Anchor | None:
        async with translated():
            raw = cast(Raw, await self._redis.xrevrange(self._keys[partition].anchors, count=1))
        return Anchor.model_validate_json(raw[0][1][b"anchor"]) if raw else None

    async def add_anchor(self, partition: int, anchor: Anchor) -> bool:
        async with translated():
            added = await self._anchor(
                keys=[self._keys[partition].anchors],
                args=[anchor.prev, _stream_id(anchor.last), anchor.root, anchor.line()],
            )
        return bool(added)

    async def exported(self, partition: int) -> Anchor | None:
        async with translated():
            line = await self._redis.get(self._keys[partition].exported)
        return Anchor.model_validate_json(line) if line else None

    async def mark_exported(self, partition: int, anchor: Anchor) -> None:
        known = await self.exported(partition)
        if known is None or place_of(anchor.last) > place_of(known.last):
            async with translated():
                await self._redis.set(self._keys[partition].exported, anchor.line())

    async def trim(self, partition: int, anchor: Anchor) -> None:
        keys, last = self._keys[partition], _stream_id(anchor.last)
        milliseconds, _, number = last.partition("-")
        async with translated():
            await self._redis.xtrim(
                keys.audit, minid=f"{milliseconds}-{int(number) + 1}", approximate=False
            )
            await self._redis.xtrim(keys.anchors, minid=last, approximate=False)

    async def _range(self, stream: str, after: str, limit: int) -> Raw:
        start = f"({_stream_id(after)}" if after else "-"
        async with translated():
            return cast(Raw, await self._redis.xrange(stream, start, "+", count=limit))


def _stream_id(entry: str) -> str:
    return entry.partition(":")[2]
