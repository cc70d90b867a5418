"""Reads new entries of a topic, which has one stream in each partition."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

from hitl_core.store.redis.connection import MAX_BLOCK, Client, ClusterClient

StreamEntry = tuple[bytes, dict[bytes, bytes] | None]
#: The reply of XREAD: entries by stream, or None after the timeout.
StreamReply = list[tuple[bytes, list[StreamEntry]]] | None

#: In a Redis Cluster, a stream that can't be read is tried again after this many seconds. Then its last
#: entries are read too, at most this many: what came meanwhile is among them.
_RETRY, _CAUGHT_UP = 1.0, 100


class StreamReader:
    """Only one task at a time may call it. `reader` is a client for commands that block.

    In a cluster one command reads only one stream. So each stream has a task there that waits for it, also
    between two calls, because a cancelled read loses its connection. A stream that can't be read keeps the
    others from nothing.
    """

    def __init__(self, reader: Client, streams: Sequence[str]) -> None:
        self._reader, self._streams = reader, list(streams)
        self._is_split = isinstance(reader, ClusterClient)
        self._positions: dict[str, str] = {}
        self._tasks: dict[str, asyncio.Task[StreamReply]] = {}
        self._failed: dict[str, BaseException] = {}

    async def read(self, block: float) -> list[dict[bytes, bytes]]:
        """The fields of all entries since the last call; the first call returns none. Waits up to `block`
        seconds.

        Raises redis-py's errors: in a cluster, if no stream can be read. After a failure a stream is read
        from its end, because after a failover it may have smaller ids.
        """
        if not self._positions and not self._tasks:
            await self._find_positions()
            return []
        reply = await (self._read_each(block) if self._is_split else self._read_all(block))
        for name, entries in reply:
            self._positions[name.decode()] = entries[-1][0].decode()
        return [fields for _, entries in reply for _, fields in entries if fields]

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()

    async def _read_all(self, block: float) -> list[tuple[bytes, list[StreamEntry]]]:
        try:
            return await self._xread(self._streams, block) or []
        except BaseException:
            self._positions.clear()
            raise

    async def _read_each(self, block: float) -> list[tuple[bytes, list[StreamEntry]]]:
        for name in self._streams:
            if name not in self._tasks:
                self._tasks[name] = asyncio.create_task(self._read_one(name))
        await asyncio.wait(self._tasks.values(), timeout=block, return_when=asyncio.FIRST_COMPLETED)
        found: list[tuple[bytes, list[StreamEntry]]] = []
        done = {name: task for name, task in self._tasks.items() if task.done()}
        for name, task in done.items():
            del self._tasks[name]
            if not self._note_failure(name, task.exception()):
                found += task.result() or []
        self._check_any()
        return found

    async def _read_one(self, name: str) -> StreamReply:
        if name in self._failed:
            await asyncio.sleep(_RETRY)
        if name not in self._positions:
            self._positions[name] = await self._last_id(name, _CAUGHT_UP)
        return await self._xread([name], MAX_BLOCK)

    async def _find_positions(self) -> None:
        """The end of each stream."""
        ends = await asyncio.gather(*map(self._last_id, self._streams), return_exceptions=True)
        for name, end in zip(self._streams, ends, strict=True):
            if isinstance(end, str):
                self._positions[name] = end
            self._note_failure(name, end if isinstance(end, BaseException) else None)
        self._check_any()

    def _note_failure(self, name: str, error: BaseException | None) -> bool:
        if error is None:
            self._failed.pop(name, None)
            return False
        self._positions.pop(name, None)
        self._failed[name] = error
        return True

    def _check_any(self) -> None:
        """Raises the error of a stream, unless it is enough that others can be read."""
        if self._failed and (not self._is_split or len(self._failed) == len(self._streams)):
            self._positions.clear()
            raise next(iter(self._failed.values()))

    async def _xread(self, names: Sequence[str], block: float) -> StreamReply:
        positions = {name: self._positions[name] for name in names}
        milliseconds = max(1, int(min(block, MAX_BLOCK) * 1000))
        return cast(StreamReply, await self._reader.xread(positions, block=milliseconds))

    async def _last_id(self, stream: str, count: int = 0) -> str:
        """The id after which the last `count` entries are."""
        # With the reader, so that it is connected before it blocks: a cancelled read then leaks no socket.
        last = cast(list[StreamEntry], await self._reader.xrevrange(stream, count=count + 1))
        return last[count][0].decode() if len(last) > count else "0-0"
