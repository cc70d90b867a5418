"""The lanes of the Redis store: the bots' jobs, in one queue for each conversation and partition."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Literal, cast

from hitl_core.model import Place, is_digest_id
from hitl_core.store.contract import (
    Backlog,
    Job,
    LaneHalf,
    Recheck,
    format_member,
    lane_of,
    later_member,
    parse_job,
)
from hitl_core.store.redis.connection import store_errors
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.keys import Keys, lane_key, parse_partition
from hitl_core.store.redis.part import RedisPart

#: Added to the score of a card that was never posted, so that it comes last in its queue. queue.lua has it
#: too.
FIRST_POST_SCORE = 1e11


class RedisLanes(RedisPart):
    """See `Lanes` for the methods. A lane has a queue in each partition, but only one lease, so that one bot
    holds all of its queues.
    """

    async def lanes(self, limit: int = 100, *, later: bool = False) -> list[str]:
        due_at: dict[str, float] = {}
        now = math.inf if later else await self.now()
        for keys in self._keys:
            async with store_errors():
                due = cast(
                    list[tuple[bytes, float]],
                    await self._redis.zrangebyscore(
                        keys.queues, "-inf", now, start=0, num=limit, withscores=True
                    ),
                )
            for name, at in due:
                lane = text_of(name)
                due_at[lane] = min(at, due_at.get(lane, at))
        return sorted(due_at, key=due_at.__getitem__)[:limit]

    async def hold_lanes(self, lanes: Sequence[str], bot: str, ttl: float) -> set[str]:
        if not lanes:
            return set()
        async with store_errors(), self._redis.pipeline(transaction=False) as pipe:
            for lane in lanes:
                await self._script("hold")(
                    keys=[lane_key(lane)], args=[bot, int(ttl * 1000)], client=pipe
                )
            answers: list[int] = await pipe.execute()
        return {lane for lane, is_held in zip(lanes, answers, strict=True) if is_held}

    async def release_lane(self, lane: str, bot: str) -> None:
        await self._run_script("release", [lane_key(lane)], [bot])

    async def take_job(self, lane: str, half: LaneHalf, skip: Collection[str] = ()) -> Job | None:
        for partition in await self._order_partitions(lane, half):
            keys = self._keys[partition]
            while answer := await self._run_script(
                "take", [keys.queue(lane), keys.change_counts, keys.job_starts], [half, *skip]
            ):
                texts = [text_of(part) for part in answer]
                if [text.encode() for text in texts] == answer:
                    member, note, token = texts
                    return parse_job(lane, partition, member, note, token, half)
                await self._rename_job(keys, lane, answer[0])
        return None

    async def _rename_job(self, keys: Keys, lane: str, member: bytes) -> None:
        """Replace a member that is no text by a text of no known kind: that job fails, and is reported."""
        queue, _, *hashes = queue_keys(keys, lane)
        async with store_errors():
            score = await self._redis.zscore(queue, member)
            async with self._redis.pipeline(transaction=False) as pipe:
                if score is not None:
                    pipe.zadd(queue, {f"damaged-{text_of(member)}": score})
                pipe.zrem(queue, member)
                for counts in hashes:
                    pipe.hdel(counts, member, b"latest " + member.partition(b" ")[2])
                await pipe.execute()

    async def _order_partitions(self, lane: str, half: LaneHalf) -> list[int]:
        """The partitions, sorted by the time of their first job."""
        partitions = list(range(len(self._keys)))
        if len(partitions) == 1:
            return partitions
        start = FIRST_POST_SCORE if half == "post" else "-inf"
        async with store_errors(), self._redis.pipeline(transaction=False) as pipe:
            for keys in self._keys:
                pipe.zrangebyscore(keys.queue(lane), start, "+inf", 0, 1, withscores=True)
            heads: list[list[tuple[bytes, float]]] = await pipe.execute()
        scores = [head[0][1] if head else math.inf for head in heads]
        return sorted(partitions, key=scores.__getitem__)

    async def finish_job(self, job: Job, check: Recheck | None = None) -> bool:
        keys, later = self._keys_of(job), check or Recheck("check", None)
        answer = await self._run_script(
            "finish",
            [_subject(keys, job.review_id), *queue_keys(keys, job.lane), keys.events],
            [
                job.lane,
                job.member,
                job.note,
                job.token,
                job.place if job.kind == "card" else "",
                format_member(later.kind, job.review_id, job.place),
                later.note,
                later_member(later.kind, job.review_id, job.place),
                "" if later.delay is None else later.delay,
            ],
        )
        return bool(answer)

    async def put_back_job(self, job: Job) -> None:
        await self._run_script(
            "put_back",
            [self._keys_of(job).job_starts],
            [job.member, job.token, f"1 {job.first_at:.6f}"],
        )

    async def redraw(
        self,
        review_id: str,
        place: Place,
        kind: Literal["card", "check", "stray", "digest"] = "check",
        note: str = "",
        *,
        delay: float = 0.0,
    ) -> None:
        partition, lane = parse_partition(review_id.removeprefix("d")), lane_of(place)
        if partition is None or partition >= len(self._keys):
            return
        keys, name = self._keys[partition], later_member if delay else format_member
        await self._run_script(
            "redraw",
            [
                _subject(keys, review_id),
                keys.queue(lane),
                keys.queues,
                keys.change_counts,
                keys.events,
            ],
            [lane, name(kind, review_id, place), note, delay],
        )

    async def backlog(self) -> Backlog:
        waiting, oldest = 0, list[float]()
        now = await self.now()
        for keys in self._keys:
            async with store_errors():
                waiting += await self._redis.hlen(keys.change_counts)
                first = await self._redis.zrangebyscore(
                    keys.queues, "-inf", now, start=0, num=1, withscores=True
                )
            oldest += [at for _, at in first]
        return Backlog(waiting, min(oldest, default=None))

    def _keys_of(self, job: Job) -> Keys:
        return self._keys[job.partition]


def _subject(keys: Keys, id: str) -> str:
    """The review or the digest that a job shows."""
    return keys.digest(id) if is_digest_id(id) else keys.review(id)


def queue_keys(keys: Keys, lane: str) -> list[str]:
    """The first keys of the scripts that change a queue."""
    return [keys.queue(lane), keys.queues, keys.change_counts, keys.job_starts]
