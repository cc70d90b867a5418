"""The store in Redis: every write is one script, and every key of a thread is in one slot."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, cast

from hitl_core.audit.entry import linked
from hitl_core.errors import SettingsError, StoreError
from hitl_core.model import Event, MessageRef, Place, Snapshot, Token
from hitl_core.model.event import SHOWN as SHOWN_EVENTS
from hitl_core.model.event import UNAUDITED
from hitl_core.store import record
from hitl_core.store.base import (
    DECIDED,
    Gauge,
    Seat,
    Write,
    has_say,
    head_start,
    lane_of,
    member_of,
)
from hitl_core.store.client import Client, check_server, close, connect, lua, translated
from hitl_core.store.keys import (
    META,
    TOKENS,
    Keys,
    alive,
    partition_for,
    partition_of,
)
from hitl_core.store.lanes import Lanes
from hitl_core.store.notes import Notes
from hitl_core.store.people import People
from hitl_core.store.redis_ledger import RedisLedger
from hitl_core.store.streams import Streams

#: Done reviews stand behind the live ones of their thread. The same number is in write.lua.
DONE = 1e11
DEFAULT_RETENTION = 30 * 24 * 3600.0


class RedisStore:
    """See `Store` for what each method promises. Make one with `await RedisStore.open(url)`."""

    def __init__(self, redis: Client, reader: Client, partitions: int, retention: float) -> None:
        self.partitions = partitions
        self._redis, self._reader = redis, reader
        self._retention = retention
        self._keys = [Keys(partition) for partition in range(partitions)]
        self._streams = Streams(redis, reader, self._keys)
        self._people, self._notes = People(redis, self._keys), Notes(redis)
        self.ledger = RedisLedger(redis, self._keys, retention)
        self._scripts = {
            name: redis.register_script(lua(name))
            for name in ("write", "load", "mark", "shown", "due")
        }
        self._lanes = Lanes(redis, self._keys)
        self.lanes, self.lane_hints = self._lanes.lanes, self._streams.lane_hints
        self.hold_lanes, self.leave_lane = self._lanes.hold_lanes, self._lanes.leave_lane
        self.take, self.finish = self._lanes.take, self._lanes.finish
        self.put_back, self.redraw = self._lanes.put_back, self._lanes.redraw
        self.bury, self.buried = self._lanes.bury, self._lanes.buried
        self.revive, self.backlog = self._lanes.revive, self._lanes.backlog
        self.slot, self.pause_slots = self._lanes.slot, self._lanes.pause_slots
        self._beat = redis.register_script(lua("beat"))
        self.hints = self._streams.hints
        self.changes = self._streams.changes
        self.waiting = self._people.waiting
        self.decided = self._people.decided
        self.save_draft = self._people.save_draft
        self.draft = self._people.draft
        self.drop_draft = self._people.drop_draft
        self.opened_home = self._people.opened_home
        self.open_homes = self._people.open_homes
        self.claim = self._people.claim

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        partitions: int | None = None,
        retention: float = DEFAULT_RETENTION,
        fix: bool = True,
    ) -> RedisStore:
        """Connect and check the server. `retention` is in seconds, for reviews that are done.

        `partitions` are fixed by whoever comes first, 1 where nothing is said; None takes what is there. Who
        only looks says `fix=False`, and leaves an empty Redis empty.
        Raises SettingsError for a server that would lose reviews, or one whose partitions differ;
        StoreUnavailable where none answers.
        """
        redis, reader = connect(url), connect(url, blocking=True)
        try:
            await check_server(redis, url)
            async with translated():
                # Connected before anybody waits: a wait that is cancelled while it still connects would
                # leave its socket behind (redis-py with Python 3.11).
                await reader.time()  # PING is refused while Redis can't save
                known = await redis.hget(META, "partitions")
                if known is None and fix:  # read first: a full Redis refuses to write what is there
                    await redis.hsetnx(META, "partitions", str(partitions or 1))
                    known = await redis.hget(META, "partitions")
                fixed = int(known or partitions or 1)
            if partitions not in (None, fixed):
                raise SettingsError(
                    f"This Redis was started with {fixed} partitions; {partitions} were asked for."
                )
        except BaseException:
            await close(redis, reader)
            raise
        return cls(redis, reader, fixed, retention)

    async def load(self, review_id: str) -> Snapshot | None:
        if (keys := self._of(review_id)) is None:
            return None
        (seconds, micros), flat = await self._run("load", [keys.review(review_id)])
        if not flat:
            return None
        fields = {flat[i].decode(): flat[i + 1] for i in range(0, len(flat), 2)}
        return record.read(review_id, fields, int(seconds) + int(micros) / 1e6)

    async def commit(self, write: Write) -> bool:
        review, event = write.review, write.event
        keys = self._known(review.id)
        done = review.status == "done"
        entry, head = "", write.chain
        if event.kind not in UNAUDITED:
            entry, head = linked(event, write.chain)
        said = event.by.key if event.by and has_say(event) else None
        retention = int(self._retention * 1000)
        places = review.places if event.kind in SHOWN_EVENTS else ()
        stored = await self._run(
            "write",
            [
                keys.review(review.id),
                keys.thread(review.thread_id),
                keys.due,
                keys.ready(review.agent),
                keys.events,
                keys.audit,
                keys.agent(review.agent),
                keys.live,
                keys.decided(said or ""),
                keys.queues,
                keys.wants,
                *map(keys.waiting, [*write.joins, *write.leaves]),
                *(keys.queue(lane_of(place)) for place in places),
            ],
            [
                review.id,
                review.version - 1,
                review.version,
                record.dump_data(review),
                review.status,
                (review.done_at or 0.0) + DONE if done else review.created_at,
                _score(write.due_at),
                _score(write.ready_at),
                len(places),
                entry,
                int(write.wake),
                retention if done else 0,
                _score(review.created_at),
                write.chain,
                head,
                len(write.joins),
                _score(event.at if said else None),
                retention,
                DECIDED,
                len(write.leaves),
                head_start(event),
                *(
                    part
                    for place in places
                    for part in (lane_of(place), place, member_of("card", review.id, place))
                ),
                *(part for pair in record.dump_args(write.args).items() for part in pair),
            ],
        )
        return bool(stored)

    async def attempt(self, review_id: str, event: Event) -> None:
        await self._notes.attempt(self._known(review_id), review_id, event)

    async def record_post(self, review_id: str, place: Place, ref: MessageRef) -> MessageRef:
        return await self._notes.post(self._known(review_id), review_id, place, ref)

    async def record_mark(self, review_id: str, mark: str) -> bool:
        keys = self._known(review_id)
        return bool(await self._run("mark", [keys.review(review_id)], [record.MARK + mark]))

    async def note_policy(self, agent: str, digest: str) -> str | None:
        keys = self._keys[partition_for(agent, self.partitions)]
        return await self._notes.policy(keys, agent, digest)

    async def record_shown(self, review_id: str, place: Place, version: int) -> int:
        keys = self._known(review_id)
        return int(
            await self._run("shown", [keys.review(review_id)], [record.SHOWN + place, version])
        )

    async def now(self) -> float:
        async with translated():
            seconds, micros = await self._redis.time()
        return int(seconds) + int(micros) / 1e6

    async def thread(self, thread_id: str) -> list[str]:
        found: list[tuple[bytes, float]] = []
        for keys in self._keys:
            async with translated():
                found += await self._redis.zrange(keys.thread(thread_id), 0, -1, withscores=True)
        return [member.decode() for member, _ in sorted(found, key=lambda pair: pair[1])]

    async def live(self, limit: int = 100) -> list[str]:
        return [seat.id for seat in await self.seats(limit)]

    async def seats(self, limit: int = 100, after: Seat | None = None) -> list[Seat]:
        found: list[Seat] = []
        for keys in self._keys:  # the first ones of all partitions are among the first of each
            found += await self._live_in(keys, limit, after)
        return sorted(found)[:limit]

    async def _live_in(self, keys: Keys, limit: int, after: Seat | None) -> list[Seat]:
        """Redis finds a place by time alone, so those of the same time are read again."""
        at, count = -inf if after is None else after.at, limit
        while True:
            async with translated():
                page = await self._redis.zrangebyscore(
                    keys.live, at, "+inf", start=0, num=count, withscores=True
                )
            seats = [Seat(score, member.decode()) for member, score in page]
            new = [seat for seat in seats if after is None or seat > after]
            if len(new) >= limit or len(page) < count:
                return new[:limit]
            count *= 2

    async def gauge(self) -> Gauge:
        live, oldest, due = 0, list[float](), list[float]()
        for keys in self._keys:
            async with translated(), self._redis.pipeline(transaction=False) as pipe:
                pipe.zcard(keys.live)
                pipe.zrange(keys.live, 0, 0, withscores=True)
                pipe.zrange(keys.due, 0, 0, withscores=True)
                count, first, next_due = await pipe.execute()
            live += count
            oldest += [at for _, at in first]
            due += [at for _, at in next_due]
        now = await self.now()
        overdue = min((at for at in due if at <= now), default=None)
        return Gauge(live, min(oldest, default=None), overdue)

    async def due(self, limit: int = 100) -> list[str]:
        return await self._peek([keys.due for keys in self._keys], limit)

    async def ready(self, agent: str, limit: int = 100) -> list[str]:
        return await self._peek([keys.ready(agent) for keys in self._keys], limit)

    async def save_token(self, token: Token) -> None:
        async with translated():
            await self._redis.hset(TOKENS, token.id, token.model_dump_json())

    async def token(self, token_id: str) -> Token | None:
        async with translated():
            found = await self._redis.hget(TOKENS, token_id)
        return Token.model_validate_json(found) if found else None

    async def tokens(self) -> list[Token]:
        async with translated():
            found = cast(list[bytes], await self._redis.hvals(TOKENS))
        return sorted(map(Token.model_validate_json, found), key=lambda token: token.created_at)

    async def drop_token(self, token_id: str) -> bool:
        async with translated():
            return bool(await self._redis.hdel(TOKENS, token_id))

    async def beat(self, process: str, ttl: float) -> None:
        async with translated():
            await self._beat(keys=[alive(process)], args=[int(ttl * 1000)])

    async def alive(self, process: str) -> bool:
        async with translated():
            return bool(await self._redis.exists(alive(process)))

    async def close(self) -> None:
        await close(self._redis, self._reader)

    async def _peek(self, indexes: Sequence[str], limit: int) -> list[str]:
        found: list[str] = []
        for index in indexes:
            members = cast(list[bytes], await self._run("due", [index], [limit]))
            found += [member.decode() for member in members]
        return found

    async def _run(self, name: str, keys: Sequence[str], args: Sequence[Any] = ()) -> Any:
        async with translated():
            return await self._scripts[name](keys=list(keys), args=list(args))

    def _of(self, review_id: str) -> Keys | None:
        partition = partition_of(review_id)
        if partition is None or partition >= self.partitions:
            return None
        return self._keys[partition]

    def _known(self, review_id: str) -> Keys:
        if (keys := self._of(review_id)) is None:
            raise StoreError(f"{review_id!r} is no review's id.")
        return keys


def _score(at: float | None) -> str:
    return "" if at is None else f"{at:.6f}"
