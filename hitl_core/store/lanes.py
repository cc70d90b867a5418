"""The lanes of the Redis store: what the bots have to show, one queue a conversation and partition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, cast

from hitl_core.store.base import Backlog, Check, Half, Job, job_of, lane_of, member_of
from hitl_core.store.client import Client, lua, translated
from hitl_core.store.keys import Keys, partition_of
from hitl_core.store.keys import lane as lane_key
from hitl_core.store.keys import slot as slot_key

#: Cards that were never shown stand behind all others in their queue. The same number is in queue.lua.
POSTS = 1e11
_NAMES = ("take", "finish", "put_back", "bury", "revive", "redraw", "hold", "release", "slot")


class Lanes:
    """See `Store` for what each method promises. A lane has a queue in each partition; the lease of a lane
    has no partition, so that one bot holds all of its queues.
    """

    def __init__(self, redis: Client, keys: Sequence[Keys]) -> None:
        self._redis, self._keys = redis, keys
        self._scripts = {name: redis.register_script(lua(name)) for name in _NAMES}

    async def lanes(self, limit: int = 100) -> list[str]:
        found: dict[str, float] = {}
        now = await self._now()
        for keys in self._keys:
            async with translated():
                due = cast(
                    list[tuple[bytes, float]],
                    await self._redis.zrangebyscore(
                        keys.queues, "-inf", now, start=0, num=limit, withscores=True
                    ),
                )
            for name, at in due:
                lane = name.decode()
                found[lane] = min(at, found.get(lane, at))
        return sorted(found, key=found.__getitem__)[:limit]

    async def hold_lanes(self, lanes: Sequence[str], bot: str, ttl: float) -> set[str]:
        if not lanes:
            return set()
        async with translated(), self._redis.pipeline(transaction=False) as pipe:
            for lane in lanes:
                await self._scripts["hold"](
                    keys=[lane_key(lane)], args=[bot, int(ttl * 1000)], client=pipe
                )
            answers: list[int] = await pipe.execute()
        return {lane for lane, held in zip(lanes, answers, strict=True) if held}

    async def leave_lane(self, lane: str, bot: str) -> None:
        await self._run("release", [lane_key(lane)], [bot])

    async def take(self, lane: str, half: Half) -> Job | None:
        for partition in await self._in_order(lane, half):
            keys = self._keys[partition]
            if found := await self._run("take", [keys.queue(lane), keys.wants, keys.begun], [half]):
                member, note, token = (part.decode() for part in found)
                return job_of(lane, partition, member, note, token)
        return None

    async def _in_order(self, lane: str, half: Half) -> list[int]:
        """The partitions, the one whose first job comes first of all in front."""
        partitions = list(range(len(self._keys)))
        if len(partitions) == 1:
            return partitions
        start = POSTS if half == "post" else "-inf"
        async with translated(), self._redis.pipeline(transaction=False) as pipe:
            for keys in self._keys:
                pipe.zrangebyscore(keys.queue(lane), start, "+inf", 0, 1, withscores=True)
            heads: list[list[tuple[bytes, float]]] = await pipe.execute()
        scores = [head[0][1] if head else math.inf for head in heads]
        return sorted(partitions, key=scores.__getitem__)

    async def finish(self, job: Job, check: Check | None = None) -> bool:
        keys, later = self._of(job), check or Check("check", None)
        answer = await self._run(
            "finish",
            [keys.review(job.review_id), *self._queue(keys, job.lane), keys.events],
            [
                job.lane,
                job.member,
                job.note,
                job.token,
                job.place if job.kind == "card" else "",
                member_of(later.kind, job.review_id, job.place),
                "" if later.after is None else later.after,
                later.note,
            ],
        )
        return bool(answer)

    async def put_back(self, job: Job) -> None:
        await self._run(
            "put_back", [self._of(job).begun], [job.member, job.token, f"1 {job.since:.6f}"]
        )

    async def bury(self, job: Job, why: str) -> None:
        keys = self._of(job)
        await self._run(
            "bury",
            [*self._queue(keys, job.lane), keys.dead, keys.letters],
            [job.lane, job.member, job.note, job.token, job.review_id, why],
        )

    async def buried(self) -> int:
        async with translated():
            return sum([await self._redis.hlen(keys.letters) for keys in self._keys])

    async def revive(self) -> int:
        revived = 0
        for keys in self._keys:
            async with translated():
                dead: list[Any] = await self._redis.xrange(keys.dead)
            for entry, fields in dead:
                names = (b"review", b"lane", b"member")
                review_id, lane, member = (fields.get(name, b"").decode() for name in names)
                revived += await self._run(
                    "revive",
                    [*self._queue(keys, lane), keys.dead, keys.letters, keys.events],
                    [lane, member, entry, review_id],
                )
        return revived

    async def redraw(
        self,
        review_id: str,
        place: str,
        kind: Literal["check", "stray"] = "check",
        note: str = "",
    ) -> None:
        partition, lane = partition_of(review_id), lane_of(place)
        if partition is None or partition >= len(self._keys):
            return
        keys = self._keys[partition]
        await self._run(
            "redraw",
            [keys.review(review_id), keys.queue(lane), keys.queues, keys.wants, keys.events],
            [lane, member_of(kind, review_id, place), note, 0],
        )

    async def backlog(self) -> Backlog:
        waiting, oldest = 0, list[float]()
        now = await self._now()
        for keys in self._keys:
            async with translated():
                waiting += await self._redis.hlen(keys.wants)
                first = await self._redis.zrangebyscore(
                    keys.queues, "-inf", now, start=0, num=1, withscores=True
                )
            oldest += [at for _, at in first]
        return Backlog(waiting, min(oldest, default=None))

    async def slot(self, name: str, every: float, burst: int = 1) -> float:
        return await self._run("slot", [slot_key(name)], [int(every * 1000), burst, 0]) / 1000

    async def pause_slots(self, name: str, seconds: float) -> None:
        await self._run("slot", [slot_key(name)], [0, 1, max(1, int(seconds * 1000))])

    async def _now(self) -> float:
        async with translated():
            seconds, micros = await self._redis.time()
        return int(seconds) + int(micros) / 1e6

    async def _run(self, name: str, keys: Sequence[str], args: Sequence[Any]) -> Any:
        async with translated():
            return await self._scripts[name](keys=list(keys), args=list(args))

    def _queue(self, keys: Keys, lane: str) -> list[str]:
        return [keys.queue(lane), keys.queues, keys.wants, keys.begun]

    def _of(self, job: Job) -> Keys:
        return self._keys[job.partition]
