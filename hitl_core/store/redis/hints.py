"""Hints from the Redis streams, of which the audit is one. One listener in each process reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hitl_core.store.redis.connection import MAX_BLOCK, Client, store_errors
from hitl_core.store.redis.keys import Keys
from hitl_core.store.redis.part import RedisPart
from hitl_core.store.redis.reviews import read_review_id

StreamEntry = tuple[bytes, dict[bytes, bytes] | None]
#: The reply of XREAD: entries by stream, or None after the timeout.
StreamReply = list[tuple[bytes, list[StreamEntry]]] | None


class RedisHints(RedisPart):
    """See `Hints` for the methods. Every partition has a stream of its own."""

    def __init__(
        self, redis: Client, reader: Client, keys: Sequence[Keys], retention: float
    ) -> None:
        super().__init__(redis, reader, keys, retention)
        self._positions: dict[str, dict[str, str]] = {}

    async def agent_hints(self, agent: str, block: float) -> list[str]:
        streams = [keys.agent(agent) for keys in self._keys]
        return [_read_review_id(fields) for fields in await self._read_new(streams, block)]

    async def changes(self, block: float) -> list[str]:
        review_ids = map(
            _read_review_id, await self._read_new([keys.audit for keys in self._keys], block)
        )
        return [review_id for review_id in review_ids if review_id]

    async def lane_hints(self, block: float) -> list[str]:
        hints = await self._read_new([keys.events for keys in self._keys], block)
        return list(dict.fromkeys(fields.get(b"lane", b"").decode() for fields in hints))

    async def _read_new(self, streams: list[str], block: float) -> list[dict[bytes, bytes]]:
        """The entries since the last call. These streams have only one listener in this process."""
        topic = streams[0]
        async with store_errors():
            if topic not in self._positions:
                self._positions[topic] = {name: await self._last_id(name) for name in streams}
                return []
            try:
                answer: StreamReply = await self._reader.xread(
                    self._positions[topic], block=_milliseconds(block)
                )
            except BaseException:
                # After a failover the stream may have smaller ids: start again at its end.
                del self._positions[topic]
                raise
        for name, entries in answer or []:
            self._positions[topic][name.decode()] = entries[-1][0].decode()
        return [fields for _, entries in answer or [] for _, fields in entries if fields]

    async def _last_id(self, stream: str) -> str:
        # With the reader, so that it is connected before it blocks: a cancelled read then leaks no socket.
        last = cast(list[StreamEntry], await self._reader.xrevrange(stream, count=1))
        return last[0][0].decode() if last else "0-0"


def _read_review_id(fields: dict[bytes, bytes]) -> str:
    """The review id in a hint or an entry of the audit; "" if the entry is not about a review."""
    if b"review" in fields:
        return fields[b"review"].decode()
    return read_review_id(fields.get(b"event"))


def _milliseconds(block: float) -> int:
    return max(1, int(min(block, MAX_BLOCK) * 1000))
