"""The dead letters in Redis: a stream in each partition, and how many of them each review has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

from hitl_core.audit import parse_position
from hitl_core.store.contract import DeadLetter, Job, Recheck, letter_member
from hitl_core.store.redis.connection import store_errors
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.part import RedisPart
from hitl_core.store.redis.queues.lanes import later_check_args, queue_keys

#: How many dead letters one command reads.
PAGE_SIZE = 200

_Entry = tuple[bytes, dict[bytes, bytes]]


class RedisDeadLetters(RedisPart):
    """See `DeadLetters` for the methods. A letter's id is its partition and its id in the stream."""

    async def move_to_dead_letters(self, job: Job, why: str, check: Recheck | None = None) -> None:
        keys, later = self._keys[job.partition], check or Recheck("check", None)
        await self._run_script(
            "dead_letter",
            [*queue_keys(keys, job.lane), keys.dead_letters, keys.dead_letter_counts],
            [
                job.lane,
                job.member,
                job.note,
                job.token,
                job.review_id,
                why,
                letter_member(job),
                *later_check_args(job, later),
            ],
        )

    async def count_dead_letters(self, missing: set[int] | None = None) -> int:
        async def count(partition: int) -> int:
            async with store_errors():
                return await self._redis.hlen(self._keys[partition].dead_letter_counts)

        return sum(await self._ask_each(count, missing))

    async def dead_letters(self, limit: int = 1000) -> list[DeadLetter]:
        letters = list[DeadLetter]()
        for partition, keys in enumerate(self._keys):
            async with store_errors():
                raw = cast(list[_Entry], await self._redis.xrange(keys.dead_letters, count=limit))
            letters += [_read_letter(partition, entry) for entry in raw]
        return sorted(letters, key=lambda letter: letter.at)[:limit]

    async def dead_letter(self, id: str) -> DeadLetter | None:
        if (found := self._find_entry(id)) is None:
            return None
        partition, entry = found
        async with store_errors():
            raw = cast(
                list[_Entry],
                await self._redis.xrange(self._keys[partition].dead_letters, entry, entry),
            )
        return _read_letter(partition, raw[0]) if raw else None

    async def requeue_dead_letter(self, letter: DeadLetter) -> bool:
        return await self._requeue(letter) > 0

    async def drop_dead_letter(self, letter: DeadLetter) -> bool:
        if (found := self._find_entry(letter.id)) is None:
            return False
        keys = self._keys[found[0]]
        args = [found[1], letter.review_id]
        return bool(
            await self._run_script(
                "drop_dead_letter", [keys.dead_letters, keys.dead_letter_counts], args
            )
        )

    async def requeue_dead_letters(self, missing: set[int] | None = None) -> int:
        async def requeue(partition: int) -> int:
            count = 0
            async for letter in self._partition_letters(partition):
                count += await self._requeue(letter) == _LAST
            return count

        return sum(await self._ask_each(requeue, missing))

    async def _partition_letters(self, partition: int) -> AsyncIterator[DeadLetter]:
        """The letters that are there now, oldest first. Read in pages, because their number has no limit."""
        stream, first = self._keys[partition].dead_letters, "-"
        async with store_errors():
            newest = cast(list[_Entry], await self._redis.xrevrange(stream, count=1))
        while newest:
            async with store_errors():
                end = newest[0][0]
                raw = cast(list[_Entry], await self._redis.xrange(stream, first, end, PAGE_SIZE))
            for entry in raw:
                yield _read_letter(partition, entry)
            if len(raw) < PAGE_SIZE:
                return
            first = f"({raw[-1][0].decode()}"

    async def _requeue(self, letter: DeadLetter) -> int:
        """0 if the letter is no longer there; 1, or _LAST for the last letter of its review."""
        if (found := self._find_entry(letter.id)) is None:
            return 0
        keys = self._keys[found[0]]
        return int(
            await self._run_script(
                "requeue",
                [
                    *queue_keys(keys, letter.lane),
                    keys.dead_letters,
                    keys.dead_letter_counts,
                    keys.events,
                ],
                [letter.lane, letter.member, found[1], letter.review_id],
            )
        )

    def _find_entry(self, id: str) -> tuple[int, str] | None:
        """The partition of the letter with this id, and its id in the stream."""
        try:
            partition, milliseconds, number = parse_position(id)
        except ValueError:
            return None
        is_known = partition < len(self._keys) and max(milliseconds, number) < 1 << 64
        return (partition, f"{milliseconds}-{number}") if is_known else None


#: The result of requeue.lua for the last dead letter of a review.
_LAST = 2


def _read_letter(partition: int, entry: _Entry) -> DeadLetter:
    id, fields = entry[0].decode(), entry[1]
    review_id, lane, member, why = (
        text_of(fields.get(name, b"")) for name in (b"review", b"lane", b"member", b"why")
    )
    at = int(id.partition("-")[0]) / 1000
    return DeadLetter(f"{partition}:{id}", at, review_id, lane, member, why)
