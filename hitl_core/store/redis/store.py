"""The store in Redis. Every write is one script, and all keys of a thread are in one cluster slot."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, cast

from hitl_core.audit import link_entry
from hitl_core.errors import SettingsError, StoreError
from hitl_core.model import REDRAW_KINDS as SHOWN_EVENTS
from hitl_core.model import UNAUDITED_KINDS, Event, MessageRef, Place, Snapshot, Token
from hitl_core.store.contract import (
    MAX_DECIDED,
    LiveReview,
    Workload,
    Write,
    format_member,
    head_start,
    is_decision_event,
    lane_of,
)
from hitl_core.store.redis import review_fields
from hitl_core.store.redis.audited_fields import AuditedFields
from hitl_core.store.redis.client import (
    Client,
    check_server,
    close_clients,
    connect,
    read_script,
    store_errors,
)
from hitl_core.store.redis.inboxes import Inboxes
from hitl_core.store.redis.keys import (
    META_KEY,
    TOKENS_KEY,
    Keys,
    alive_key,
    choose_partition,
    parse_partition,
)
from hitl_core.store.redis.lanes import RedisLanes
from hitl_core.store.redis.ledger import RedisLedger
from hitl_core.store.redis.streams import RedisStreams

#: Added to the score of done reviews: they come after the live ones of their thread. Also in write.lua.
DONE_OFFSET = 1e11
DEFAULT_RETENTION = 30 * 24 * 3600.0


class RedisStore:
    """See `Store` for the methods. Open one with `await RedisStore.open(url)`."""

    def __init__(self, redis: Client, reader: Client, partitions: int, retention: float) -> None:
        self.partitions = partitions
        self._redis, self._reader = redis, reader
        self._retention = retention
        self._keys = [Keys(partition) for partition in range(partitions)]
        self._streams = RedisStreams(redis, reader, self._keys)
        self._inboxes, self._audited_fields = Inboxes(redis, self._keys), AuditedFields(redis)
        self.ledger = RedisLedger(redis, self._keys, retention)
        self._scripts = {
            name: redis.register_script(read_script(name))
            for name in ("write", "load", "outline", "mark", "shown", "due")
        }
        self._lanes = RedisLanes(redis, self._keys)
        self.lanes, self.lane_hints = self._lanes.lanes, self._streams.lane_hints
        self.hold_lanes, self.release_lane = self._lanes.hold_lanes, self._lanes.release_lane
        self.take_job, self.finish_job = self._lanes.take_job, self._lanes.finish_job
        self.put_back_job, self.redraw = self._lanes.put_back_job, self._lanes.redraw
        self.move_to_dead_letters, self.count_dead_letters = (
            self._lanes.move_to_dead_letters,
            self._lanes.count_dead_letters,
        )
        self.requeue_dead_letters, self.backlog = (
            self._lanes.requeue_dead_letters,
            self._lanes.backlog,
        )
        self.take_slot, self.pause_slots = self._lanes.take_slot, self._lanes.pause_slots
        self._heartbeat_script = redis.register_script(read_script("beat"))
        self.agent_hints = self._streams.agent_hints
        self.changes = self._streams.changes
        self.waiting_reviews = self._inboxes.waiting_reviews
        self.recent_decisions = self._inboxes.recent_decisions
        self.save_draft = self._inboxes.save_draft
        self.draft = self._inboxes.draft
        self.drop_draft = self._inboxes.drop_draft
        self.record_home_view = self._inboxes.record_home_view
        self.home_viewers = self._inboxes.home_viewers
        self.try_lock = self._inboxes.try_lock

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        partitions: int | None = None,
        retention: float = DEFAULT_RETENTION,
        set_partitions: bool = True,
    ) -> RedisStore:
        """Connect and check the server. `retention`, in seconds, is how long done reviews are kept.

        The first process sets the number of `partitions` permanently (1 by default); None takes the stored
        number. A process that only reads passes `set_partitions=False`, which leaves an empty Redis empty.
        Raises SettingsError for a server that could lose reviews, or that has another number of partitions;
        StoreUnavailable when Redis doesn't answer.
        """
        redis, reader = connect(url), connect(url, blocking=True)
        try:
            await check_server(redis, url)
            async with store_errors():
                # Connect now, because a read that is cancelled while it connects would leave its socket open
                # (redis-py with Python 3.11). Not with PING: Redis refuses that while it can't save.
                await reader.time()
                known = await redis.hget(META_KEY, "partitions")
                # Read before writing: a full Redis refuses every write, even of the same value.
                if known is None and set_partitions:
                    await redis.hsetnx(META_KEY, "partitions", str(partitions or 1))
                    known = await redis.hget(META_KEY, "partitions")
                fixed = int(known or partitions or 1)
            if partitions not in (None, fixed):
                raise SettingsError(
                    f"This Redis has {fixed} partitions, and the setting says {partitions}. The number can't"
                    f" be changed: set it to {fixed}, or use another Redis."
                )
        except BaseException:
            await close_clients(redis, reader)
            raise
        return cls(redis, reader, fixed, retention)

    async def load(self, review_id: str) -> Snapshot | None:
        return await self._load(review_id, "load")

    async def load_outline(self, review_id: str) -> Snapshot | None:
        return await self._load(review_id, "outline")

    async def _load(self, review_id: str, script: str) -> Snapshot | None:
        if (keys := self._find_keys(review_id)) is None:
            return None
        (seconds, micros), flat = await self._run_script(script, [keys.review(review_id)])
        if not flat:
            return None
        fields = {flat[i].decode(): flat[i + 1] for i in range(0, len(flat), 2)}
        return review_fields.read_snapshot(review_id, fields, int(seconds) + int(micros) / 1e6)

    async def commit(self, write: Write) -> bool:
        review, event = write.review, write.event
        keys = self._require_keys(review.id)
        done = review.status == "done"
        entry, head = "", write.chain
        if event.kind not in UNAUDITED_KINDS:
            entry, head = link_entry(event, write.chain)
        voter = event.by.key if event.by and is_decision_event(event) else None
        retention = int(self._retention * 1000)
        places = review.places if event.kind in SHOWN_EVENTS else ()
        stored = await self._run_script(
            "write",
            [
                keys.review(review.id),
                keys.thread(review.thread_id),
                keys.due,
                keys.ready(review.agent),
                keys.events,
                keys.audit,
                keys.agent(review.agent),
                keys.live_reviews,
                keys.decisions(voter or ""),
                keys.queues,
                keys.change_counts,
                *map(keys.waiting, [*write.audiences_added, *write.audiences_removed]),
                *(keys.queue(lane_of(place)) for place in places),
            ],
            [
                review.id,
                review.version - 1,
                review.version,
                review_fields.dump_data(review),
                review.status,
                (review.done_at or 0.0) + DONE_OFFSET if done else review.created_at,
                _score(write.due_at),
                _score(write.ready_at),
                len(places),
                entry,
                int(write.wakes_agent),
                retention if done else 0,
                _score(review.created_at),
                write.chain,
                head,
                len(write.audiences_added),
                _score(event.at if voter else None),
                retention,
                MAX_DECIDED,
                len(write.audiences_removed),
                head_start(event),
                *(
                    part
                    for place in places
                    for part in (lane_of(place), place, format_member("card", review.id, place))
                ),
                *(part for pair in review_fields.dump_args(write.args).items() for part in pair),
            ],
        )
        return bool(stored)

    async def record_refusal(self, review_id: str, event: Event) -> None:
        await self._audited_fields.record_refusal(self._require_keys(review_id), review_id, event)

    async def record_post(self, review_id: str, place: Place, ref: MessageRef) -> MessageRef:
        return await self._audited_fields.record_post(
            self._require_keys(review_id), review_id, place, ref
        )

    async def record_mark(self, review_id: str, mark: str) -> bool:
        keys = self._require_keys(review_id)
        return bool(
            await self._run_script("mark", [keys.review(review_id)], [review_fields.MARK + mark])
        )

    async def record_policy(self, agent: str, digest: str) -> str | None:
        keys = self._keys[choose_partition(agent, self.partitions)]
        return await self._audited_fields.record_policy(keys, agent, digest)

    async def record_shown_version(self, review_id: str, place: Place, version: int) -> int:
        keys = self._require_keys(review_id)
        return int(
            await self._run_script(
                "shown", [keys.review(review_id)], [review_fields.SHOWN + place, version]
            )
        )

    async def now(self) -> float:
        async with store_errors():
            seconds, micros = await self._redis.time()
        return int(seconds) + int(micros) / 1e6

    async def thread_reviews(self, thread_id: str) -> list[str]:
        members: list[tuple[bytes, float]] = []
        for keys in self._keys:
            async with store_errors():
                members += await self._redis.zrange(keys.thread(thread_id), 0, -1, withscores=True)
        return [member.decode() for member, _ in sorted(members, key=lambda pair: pair[1])]

    async def live_ids(self, limit: int = 100) -> list[str]:
        return [review.id for review in await self.live_reviews(limit)]

    async def live_reviews(
        self, limit: int = 100, after: LiveReview | None = None
    ) -> list[LiveReview]:
        reviews: list[LiveReview] = []
        for (
            keys
        ) in self._keys:  # any of the first `limit` is among the first `limit` of its partition
            reviews += await self._live_in_partition(keys, limit, after)
        return sorted(reviews)[:limit]

    async def _live_in_partition(
        self, keys: Keys, limit: int, after: LiveReview | None
    ) -> list[LiveReview]:
        """Redis finds a position by time alone, so reviews of the same time are read again and skipped."""
        at, count = -inf if after is None else after.submitted_at, limit
        while True:
            async with store_errors():
                page = await self._redis.zrangebyscore(
                    keys.live_reviews, at, "+inf", start=0, num=count, withscores=True
                )
            reviews = [LiveReview(score, member.decode()) for member, score in page]
            new = [review for review in reviews if after is None or review > after]
            if len(new) >= limit or len(page) < count:
                return new[:limit]
            count *= 2

    async def workload(self) -> Workload:
        live, oldest, due = 0, list[float](), list[float]()
        for keys in self._keys:
            async with store_errors(), self._redis.pipeline(transaction=False) as pipe:
                pipe.zcard(keys.live_reviews)
                pipe.zrange(keys.live_reviews, 0, 0, withscores=True)
                pipe.zrange(keys.due, 0, 0, withscores=True)
                count, first, next_due = await pipe.execute()
            live += count
            oldest += [at for _, at in first]
            due += [at for _, at in next_due]
        now = await self.now()
        overdue = min((at for at in due if at <= now), default=None)
        return Workload(live, min(oldest, default=None), overdue)

    async def due_reviews(self, limit: int = 100) -> list[str]:
        return await self._peek_indexes([keys.due for keys in self._keys], limit)

    async def ready_reviews(self, agent: str, limit: int = 100) -> list[str]:
        return await self._peek_indexes([keys.ready(agent) for keys in self._keys], limit)

    async def save_token(self, token: Token) -> None:
        async with store_errors():
            await self._redis.hset(TOKENS_KEY, token.id, token.model_dump_json())

    async def token(self, token_id: str) -> Token | None:
        async with store_errors():
            data = await self._redis.hget(TOKENS_KEY, token_id)
        return Token.model_validate_json(data) if data else None

    async def tokens(self) -> list[Token]:
        async with store_errors():
            values = cast(list[bytes], await self._redis.hvals(TOKENS_KEY))
        return sorted(map(Token.model_validate_json, values), key=lambda token: token.created_at)

    async def drop_token(self, token_id: str) -> bool:
        async with store_errors():
            return bool(await self._redis.hdel(TOKENS_KEY, token_id))

    async def send_heartbeat(self, process: str, ttl: float) -> None:
        async with store_errors():
            await self._heartbeat_script(keys=[alive_key(process)], args=[int(ttl * 1000)])

    async def is_alive(self, process: str) -> bool:
        async with store_errors():
            return bool(await self._redis.exists(alive_key(process)))

    async def close(self) -> None:
        await close_clients(self._redis, self._reader)

    async def _peek_indexes(self, indexes: Sequence[str], limit: int) -> list[str]:
        review_ids: list[str] = []
        for index in indexes:
            members = cast(list[bytes], await self._run_script("due", [index], [limit]))
            review_ids += [member.decode() for member in members]
        return review_ids

    async def _run_script(self, name: str, keys: Sequence[str], args: Sequence[Any] = ()) -> Any:
        async with store_errors():
            return await self._scripts[name](keys=list(keys), args=list(args))

    def _find_keys(self, review_id: str) -> Keys | None:
        partition = parse_partition(review_id)
        if partition is None or partition >= self.partitions:
            return None
        return self._keys[partition]

    def _require_keys(self, review_id: str) -> Keys:
        if (keys := self._find_keys(review_id)) is None:
            raise StoreError(f"{review_id!r} is not the id of a review in this store.")
        return keys


def _score(at: float | None) -> str:
    return "" if at is None else f"{at:.6f}"
