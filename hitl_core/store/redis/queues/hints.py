"""Hints from the Redis streams; the audit is one of them. One listener in each process reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hitl_core.errors import StoreError
from hitl_core.model import Snapshot
from hitl_core.store.contract import AgentHint
from hitl_core.store.redis.connection import Client, store_errors
from hitl_core.store.redis.fields import check_arguments, read_review_id, read_snapshot, text_of
from hitl_core.store.redis.keys import Keys
from hitl_core.store.redis.part import RedisPart
from hitl_core.store.redis.queues.streams import StreamReader


class RedisHints(RedisPart):
    """See `Hints` for the methods. Every partition has a stream of its own."""

    def __init__(
        self, redis: Client, reader: Client, keys: Sequence[Keys], retention: float
    ) -> None:
        super().__init__(redis, reader, keys, retention)
        self._topics: dict[str, StreamReader] = {}

    async def agent_hints(self, agent: str, block: float) -> list[AgentHint]:
        streams = [keys.agent(agent) for keys in self._keys]
        return [_read_hint(fields) for fields in await self._read_new(streams, block)]

    async def changes(self, block: float) -> list[str]:
        review_ids = map(
            _read_review_id, await self._read_new([keys.audit for keys in self._keys], block)
        )
        return [review_id for review_id in review_ids if review_id]

    async def lane_hints(self, block: float) -> list[str]:
        hints = await self._read_new([keys.events for keys in self._keys], block)
        return list(dict.fromkeys(text_of(fields.get(b"lane", b"")) for fields in hints))

    async def _read_new(self, streams: list[str], block: float) -> list[dict[bytes, bytes]]:
        """The entries since the last call. These streams have only one listener in this process."""
        topic = streams[0]
        if topic not in self._topics:
            self._topics[topic] = StreamReader(self._reader, streams)
        async with store_errors():
            try:
                return await self._topics[topic].read(block)
            except BaseException:
                self._server_change.suspect()
                raise

    async def _close_topics(self) -> None:
        for topic in self._topics.values():
            await topic.close()


def _read_hint(fields: dict[bytes, bytes]) -> AgentHint:
    review_id = _read_review_id(fields)
    if b"head" not in fields or b"fields" not in fields:
        return AgentHint(review_id)
    return AgentHint(review_id, partial(_read_snapshot, review_id, fields))


def _read_snapshot(review_id: str, fields: dict[bytes, bytes]) -> Snapshot | None:
    """None for what can't be read: a load then says why."""
    try:
        snapshot = read_snapshot(review_id, fields[b"head"], fields[b"fields"])
        if snapshot is not None:
            check_arguments(snapshot.review)
    except (StoreError, ValueError):
        return None
    return snapshot


def _read_review_id(fields: dict[bytes, bytes]) -> str:
    """The review id in a hint or an entry of the audit; "" if the entry is not about a review."""
    if b"review" in fields:
        return text_of(fields[b"review"])
    return read_review_id(fields.get(b"event"))
