"""The lanes of the Redis store: the bots' jobs, in one queue for each conversation and partition."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Sequence
from itertools import chain

from hitl_core.errors import StoreUnavailable
from hitl_core.model import Place, is_digest_id
from hitl_core.store.contract import (
    Backlog,
    Job,
    LaneHalf,
    Recheck,
    RedrawKind,
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

    async def lanes(
        self, limit: int = 100, *, later: bool = False, missing: set[int] | None = None
    ) -> list[str]:
        now = math.inf if later else await self.now()

        async def read(partition: int) -> list[tuple[bytes, float]]:
            queues = self._keys[partition].queues
            async with store_errors():
                return await self._redis.zrangebyscore(
                    queues, "-inf", now, start=0, num=limit, withscores=True
                )

        due_at: dict[str, float] = {}
        for name, at in chain(*await self._ask_each(read, missing)):
            lane = text_of(name)
            due_at[lane] = min(at, due_at.get(lane, at))
        return sorted(due_at, key=due_at.__getitem__)[:limit]

    async def hold_lanes(
        self, lanes: Sequence[str], bot: str, ttl: float, unknown: set[str] | None = None
    ) -> set[str]:
        async def hold(lane: str) -> bool:
            if unknown is not None and await self._is_away(lane_key(lane)):
                raise StoreUnavailable("The server that has the lane gave no answer a moment ago.")
            return bool(
                await self._run_script("hold_lease", [lane_key(lane)], [bot, int(ttl * 1000)])
            )

        # Sent together, like all scripts that begin at once.
        answers = await asyncio.gather(*map(hold, lanes), return_exceptions=True)
        held = dict(zip(lanes, answers, strict=True))
        for lane, answer in held.items():
            if not isinstance(answer, BaseException):
                continue
            is_missing = isinstance(answer, StoreUnavailable) and self._is_cluster
            if unknown is None or not is_missing:
                raise answer
            unknown.add(lane)
        return {lane for lane, is_held in held.items() if is_held is True}

    async def release_lane(self, lane: str, bot: str) -> None:
        await self._run_script("release_lease", [lane_key(lane)], [bot])

    async def take_job(self, lane: str, half: LaneHalf, skip: Collection[str] = ()) -> Job | None:
        for partition in await self._order_partitions(lane, half):
            keys = self._keys[partition]
            while answer := await self._run_script(
                "take",
                [keys.queue(lane), keys.change_counts, keys.job_starts, keys.dead_letter_counts],
                [half, *skip],
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

        async def read(partition: int) -> tuple[float, int]:
            head = await self._run_script("head", [self._keys[partition].queue(lane)], [start])
            return (float(head) if head else math.inf), partition

        return [partition for _, partition in sorted(await self._ask_each(read, set()))]

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
                *later_check_args(job, later),
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
        kind: RedrawKind = "check",
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

    async def backlog(self, missing: set[int] | None = None) -> Backlog:
        now = await self.now()

        async def read(partition: int) -> tuple[int, list[tuple[bytes, float]]]:
            keys = self._keys[partition]
            async with store_errors():
                waiting = await self._redis.hlen(keys.change_counts)
                first = await self._redis.zrangebyscore(
                    keys.queues, "-inf", now, start=0, num=1, withscores=True
                )
            return waiting, first

        found = await self._ask_each(read, missing)
        oldest = min((at for _, first in found for _, at in first), default=None)
        return Backlog(sum(waiting for waiting, _ in found), oldest)

    def _keys_of(self, job: Job) -> Keys:
        return self._keys[job.partition]


def _subject(keys: Keys, id: str) -> str:
    """The review or the digest that a job shows."""
    return keys.digest(id) if is_digest_id(id) else keys.review(id)


def queue_keys(keys: Keys, lane: str) -> list[str]:
    """The first keys of the scripts that change a queue."""
    return [keys.queue(lane), keys.queues, keys.change_counts, keys.job_starts]


def later_check_args(job: Job, check: Recheck) -> list[str]:
    """The last arguments of the scripts that queue a later check of the job's card."""
    delay = "" if check.delay is None else str(check.delay)
    return [check.note, later_member(check.kind, job.review_id, job.place), delay]
