"""Digests in Redis: each is a hash in the partition of its reviews.

Its fields: `lane`, `place`, `agent`, `total`, `post` (the message), `wait:<review>` (the time by which the
review should be shown), `new:<review>` (the message is not recorded for this review yet), `closed`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import cast
from uuid import uuid4

from hitl_core.errors import DigestUnreadable
from hitl_core.model import MessageRef, Place, is_digest_id
from hitl_core.store.contract import (
    MAX_DIGEST,
    OPEN_FOR,
    Digest,
    Job,
    alone_mark,
    digest_mark,
    format_member,
    lane_of,
    make_digest_id,
    parse_job,
)
from hitl_core.store.redis.connection import WrongType, store_errors
from hitl_core.store.redis.fields import MARK, text_of
from hitl_core.store.redis.keys import Keys, parse_partition
from hitl_core.store.redis.part import RedisPart
from hitl_core.store.redis.queues.lanes import FIRST_POST_SCORE, queue_keys

_WAIT, _NEW = "wait:", "new:"


class RedisDigests(RedisPart):
    """See `Digests` for the methods."""

    async def first_posts(self, lane: str, limit: int) -> list[tuple[str, Place]]:
        async def read(partition: int) -> list[tuple[float, Job]]:
            return await self._read_cards(lane, self._keys[partition].queue(lane), limit)

        cards = chain(*await self._ask_each(read, set()))
        ordered = sorted(cards, key=lambda each: (each[0], each[1].member))
        return [(job.review_id, job.place) for _, job in ordered[:limit]]

    async def _read_cards(self, lane: str, queue: str, limit: int) -> list[tuple[float, Job]]:
        """The first cards of one partition. Digests that wait for their message, and jobs that can't be read,
        are in the queue too, and take no card's place.
        """
        cards, start = list[tuple[float, Job]](), 0
        while len(cards) < limit:
            async with store_errors():
                page = cast(
                    list[tuple[bytes, float]],
                    await self._redis.zrangebyscore(
                        queue, FIRST_POST_SCORE, "+inf", start, limit, withscores=True
                    ),
                )
            jobs = [(at, parse_job(lane, 0, text_of(name), "", "0 0 0")) for name, at in page]
            cards += [(at, job) for at, job in jobs if job.kind == "card"]
            start += len(page)
            if len(page) < limit:
                break
        return cards

    async def add_to_digest(
        self, lane: str, place: Place, group: str, agent: str, review_ids: Sequence[str]
    ) -> str | None:
        partition = parse_partition(review_ids[0])
        assert partition is not None  # they come from its queue
        keys = self._keys[partition]
        open_key, count = keys.open_digest(lane, group), -1
        id = ""
        while count < 0:
            async with store_errors():
                is_open = cast(bytes | None, await self._redis.get(open_key))
            known = is_open.decode() if is_open else ""
            id = known or make_digest_id(partition, uuid4().hex)
            members = [
                part for one in review_ids for part in (one, format_member("card", one, place))
            ]
            count = await self._run_script(
                "add_to_digest",
                [
                    *queue_keys(keys, lane), keys.events, keys.digest(id), open_key,
                    *map(keys.review, review_ids),
                ],
                [
                    lane, place, agent, id, known, int(OPEN_FOR * 1000),
                    format_member("digest", id, place), MARK + digest_mark(place, id),
                    MARK + alone_mark(place), MAX_DIGEST, *members,
                ],
            )  # fmt: skip
        return id if count else None

    async def digest(self, id: str) -> Digest | None:
        if (keys := self._digest_keys(id)) is None:
            return None
        try:
            async with store_errors():
                raw = cast(dict[bytes, bytes], await self._redis.hgetall(keys.digest(id)))
            return _read_digest(id, raw)
        except (KeyError, ValueError, WrongType) as error:  # ValidationError is a ValueError
            raise _unreadable(id) from error

    async def record_digest_message(
        self, id: str, ref: MessageRef, gone: MessageRef | None = None
    ) -> MessageRef:
        keys = self._digest_keys(id)
        assert keys is not None  # it was loaded
        before = gone.model_dump_json() if gone else ""
        winner = await self._run_script(
            "digest_message", [keys.digest(id)], [ref.model_dump_json(), before]
        )
        return MessageRef.model_validate_json(winner) if winner else ref

    async def finish_new(self, id: str, review_ids: Collection[str]) -> None:
        if review_ids and (keys := self._digest_keys(id)) is not None:
            async with store_errors():
                await self._redis.hdel(keys.digest(id), *(_NEW + one for one in review_ids))

    async def update_digest(self, id: str, review_id: str, *, waits: bool) -> bool:
        return await self._update(id, review_id, waits=waits)

    async def redraw_digest(self, id: str) -> None:
        await self._update(id, "", waits=False)

    async def _update(self, id: str, review_id: str, *, waits: bool) -> bool:
        if (keys := self._digest_keys(id)) is None:
            return not waits
        try:
            async with store_errors():
                where = cast(bytes | None, await self._redis.hget(keys.digest(id), "place"))
            if where is None:
                return not waits
            place = Place(where.decode())
        except (ValueError, WrongType) as error:
            raise _unreadable(id) from error
        lane = lane_of(place)
        queue, queues, change_counts, _ = queue_keys(keys, lane)
        is_shown = await self._run_script(
            "update_digest",
            [keys.digest(id), queue, queues, change_counts, keys.events],
            [
                lane, format_member("digest", id, place), review_id, int(waits),
                int(self._retention * 1000),
            ],
        )  # fmt: skip
        return bool(is_shown)

    async def leave_digest(self, id: str, place: Place, review_ids: Collection[str]) -> None:
        await self._leave(id, place, review_ids, closes=False)

    async def dissolve_digest(self, id: str, place: Place) -> None:
        if (keys := self._digest_keys(id)) is None:
            return
        # First, so that no other bot adds a review now.
        await self._leave(id, place, (), closes=True)
        async with store_errors():
            names = cast(list[bytes], await self._redis.hkeys(keys.digest(id)))
        fields = map(text_of, names)
        waiting = [name.removeprefix(_WAIT) for name in fields if name.startswith(_WAIT)]
        await self._leave(id, place, waiting, closes=True)

    async def _leave(self, id: str, place: Place, ids: Collection[str], *, closes: bool) -> None:
        if (keys := self._digest_keys(id)) is None:
            return
        lane = lane_of(place)
        queue, queues, change_counts, _ = queue_keys(keys, lane)
        members = [part for one in ids for part in (one, format_member("card", one, place))]
        await self._run_script(
            "leave_digest",
            [
                keys.digest(id), queue, queues, change_counts, keys.events,
                *map(keys.review, ids),
            ],
            [
                lane, place, format_member("digest", id, place), MARK + digest_mark(place, id),
                MARK + alone_mark(place), int(self._retention * 1000), int(closes), *members,
            ],
        )  # fmt: skip

    def _digest_keys(self, id: str) -> Keys | None:
        return self._find_keys(id.removeprefix("d")) if is_digest_id(id) else None


def _unreadable(id: str) -> DigestUnreadable:
    return DigestUnreadable(f"The stored digest {id} can't be read by this version.")


def _read_digest(id: str, raw: Mapping[bytes, bytes]) -> Digest | None:
    """From the fields of its hash. Raises KeyError or ValueError for what can't be read."""
    fields = {name.decode(): value.decode() for name, value in raw.items()}
    if "lane" not in fields:
        return None
    waits = {
        name.removeprefix(_WAIT): float(value)
        for name, value in fields.items()
        if name.startswith(_WAIT)
    }
    waiting = tuple(sorted(waits, key=lambda one: (waits[one], one)))
    post = fields.get("post")
    return Digest(
        id,
        fields["lane"],
        Place(fields["place"]),
        fields["agent"],
        MessageRef.model_validate_json(post) if post else None,
        waiting,
        tuple(one for one in waiting if _NEW + one in fields),
        int(fields["total"]),
        "closed" in fields,
    )
