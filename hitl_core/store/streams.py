"""The streams of the Redis store: events for the bots (a consumer group), hints for the agents (none)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import cast

from redis.exceptions import ResponseError

from hitl_core.store import record
from hitl_core.store.base import Hint, merged
from hitl_core.store.client import MAX_BLOCK, Client, lua, translated
from hitl_core.store.keys import Keys

GROUP = "bot"

Entry = tuple[bytes, dict[bytes, bytes] | None]
#: What XREAD and XREADGROUP answer: entries by stream, None where the time was up.
Read = list[tuple[bytes, list[Entry]]] | None


class Streams:
    """An entry's name is `<partition>:<stream id>`, since every partition has a stream of its own."""

    def __init__(self, redis: Client, reader: Client, keys: Sequence[Keys]) -> None:
        self._redis, self._reader, self._keys = redis, reader, keys
        self._places: dict[str, dict[str, str]] = {}
        self._looked_at: list[str | bytes] = ["0-0"] * len(keys)
        self._grouped = False
        self._ack = redis.register_script(lua("ack"))
        self._leave = redis.register_script(lua("leave"))
        self._bury = redis.register_script(lua("bury"))
        self._revive = redis.register_script(lua("revive"))

    async def read(self, consumer: str, block: float, limit: int = 100) -> list[Hint]:
        await self._ensure_group()
        streams = {keys.events: ">" for keys in self._keys}
        async with translated():
            try:
                answer: Read = await self._reader.xreadgroup(
                    GROUP, consumer, streams, count=limit, block=_milliseconds(block)
                )
            except ResponseError as error:
                if not str(error).startswith("NOGROUP"):
                    raise
                self._grouped = False  # the data was lost; the next call makes it again
                return []
        partition_of = {keys.events: index for index, keys in enumerate(self._keys)}
        return [
            _hint(partition_of[name.decode()], entry)
            for name, entries in answer or []
            for entry in entries
        ]

    async def reclaim(self, consumer: str, idle: float, limit: int = 100) -> list[Hint]:
        await self._ensure_group()
        found: list[Hint] = []
        for partition, keys in enumerate(self._keys):
            async with translated():
                # It looks at ten times `limit` entries, busy ones as well: the next call goes on where this
                # one ended. Two elements on 6.2, three later.
                answer = await self._redis.xautoclaim(
                    keys.events, GROUP, consumer, min_idle_time=int(idle * 1000), count=limit,
                    start_id=self._looked_at[partition],
                )  # fmt: skip
                self._looked_at[partition] = answer[0]
                entries = [entry for entry in cast(list[Entry], answer[1]) if entry[1]]
                for entry in entries:
                    pending = await self._redis.xpending_range(
                        keys.events, GROUP, entry[0], entry[0], 1
                    )
                    deliveries = int(pending[0]["times_delivered"]) if pending else 2
                    found.append(_hint(partition, entry, deliveries))
        return found

    async def hold(self, consumer: str, entries: Sequence[str]) -> None:
        for keys, ids in self._split(entries):
            async with translated():  # JUSTID leaves the count of deliveries as it is
                await self._redis.xclaim(keys.events, GROUP, consumer, 0, ids, justid=True)

    async def leave(self, consumer: str) -> None:
        for keys in self._keys:
            async with translated():
                await self._leave(keys=[keys.events], args=[GROUP, consumer])

    async def ack(self, entries: Sequence[str]) -> None:
        for keys, ids in self._split(entries):
            async with translated():
                await self._ack(keys=[keys.events], args=[GROUP, *ids])

    async def bury(self, hint: Hint, why: str) -> None:
        for keys, [entry] in self._split([hint.entry]):
            places = "" if hint.places is None else record.dump_places(hint.places)
            async with translated():
                await self._bury(
                    keys=[keys.events, keys.dead, keys.letters],
                    args=[GROUP, entry, hint.review_id, places, why],
                )

    async def buried(self) -> int:
        async with translated():
            return sum([await self._redis.hlen(keys.letters) for keys in self._keys])

    async def revive(self) -> int:
        revived = 0
        for keys in self._keys:
            for review_id, dead in (await self._letters(keys)).items():
                places = reduce(merged, (_hint(0, entry).places for entry in dead))
                dumped = "" if places is None else record.dump_places(places)
                async with translated():
                    gone = await self._revive(
                        keys=[keys.events, keys.dead, keys.letters],
                        args=[review_id, dumped, *(entry[0] for entry in dead)],
                    )
                revived += bool(gone)
        return revived

    async def _letters(self, keys: Keys) -> dict[str, list[Entry]]:
        """The dead letters by their review."""
        async with translated():
            dead = cast(list[Entry], await self._redis.xrange(keys.dead))
        letters: dict[str, list[Entry]] = {}
        for entry in dead:
            letters.setdefault(_hint(0, entry).review_id, []).append(entry)
        return letters

    async def hints(self, agent: str, block: float) -> list[str]:
        return await self._listen([keys.agent(agent) for keys in self._keys], block)

    async def changes(self, block: float) -> list[str]:
        return await self._listen([keys.audit for keys in self._keys], block)

    async def _listen(self, streams: list[str], block: float) -> list[str]:
        """What came since the last call; these streams have one listener in this process."""
        topic = streams[0]
        async with translated():
            if topic not in self._places:
                self._places[topic] = {name: await self._end(name) for name in streams}
                return []
            try:
                answer: Read = await self._reader.xread(
                    self._places[topic], block=_milliseconds(block)
                )
            except BaseException:
                del self._places[topic]  # after a failover the ids may have gone back: start anew
                raise
        for name, entries in answer or []:
            self._places[topic][name.decode()] = entries[-1][0].decode()
        found = (_review_of(fields or {}) for _, entries in answer or [] for _, fields in entries)
        return [review_id for review_id in found if review_id]

    async def _end(self, stream: str) -> str:
        # By the reader, which is then connected: a wait that is cancelled at once has nothing half open.
        last = cast(list[Entry], await self._reader.xrevrange(stream, count=1))
        return last[0][0].decode() if last else "0-0"

    async def _ensure_group(self) -> None:
        if self._grouped:
            return
        for keys in self._keys:
            async with translated():
                try:
                    await self._redis.xgroup_create(keys.events, GROUP, id="0", mkstream=True)
                except ResponseError as error:
                    if not str(error).startswith("BUSYGROUP"):
                        raise
        self._grouped = True

    def _split(self, entries: Sequence[str]) -> list[tuple[Keys, list[str]]]:
        by_partition: dict[int, list[str]] = {}
        for entry in entries:
            partition, _, stream_id = entry.partition(":")
            by_partition.setdefault(int(partition), []).append(stream_id)
        return [(self._keys[partition], ids) for partition, ids in by_partition.items()]


def _hint(partition: int, entry: Entry, deliveries: int = 1) -> Hint:
    """An entry that names no review is one of a review that isn't kept. A revived one was tried before."""
    stream_id, fields = entry[0], entry[1] or {}
    review_id = fields.get(b"review", b"").decode()
    places = record.read_places(fields.get(b"places"))
    tried = 2 if b"again" in fields else 1
    return Hint(f"{partition}:{stream_id.decode()}", review_id, places, max(deliveries, tried))


def _review_of(fields: dict[bytes, bytes]) -> str:
    """Which review a hint or an entry of the audit is about; "" for that of an agent's policy."""
    if b"review" in fields:
        return fields[b"review"].decode()
    return record.read_review_id(fields.get(b"event"))


def _milliseconds(block: float) -> int:
    return max(1, int(min(block, MAX_BLOCK) * 1000))
