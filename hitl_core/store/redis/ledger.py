"""The audit in Redis: every partition has a stream of entries and a stream of anchors.

`RedisAuditedFields` writes a field together with its audit entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast
from uuid import uuid4

from hitl_core.audit import Anchor, Entry, PolicyChanged, link_entry, parse_position
from hitl_core.errors import AuditUnreadable
from hitl_core.model import Event, MessageRef, Place
from hitl_core.store.contract import delivery_event, digest_mark
from hitl_core.store.redis.connection import Client, store_errors
from hitl_core.store.redis.fields import ATTEMPT, CHAIN, MARK, POST, dump_entry, read_entry
from hitl_core.store.redis.keys import Keys, choose_partition, hash_of
from hitl_core.store.redis.part import RedisPart
from hitl_core.store.redis.scripts import read_script

#: Makes the event from the store's time and the field's current value.
EventFactory = Callable[[float, str | None], Event | PolicyChanged]
StreamEntries = list[tuple[bytes, dict[bytes, bytes]]]


class RedisLedger:
    """See `Ledger` for the methods. An anchor's id in its stream is the id of its last entry."""

    def __init__(self, redis: Client, keys: Sequence[Keys], retention: float) -> None:
        self.retention = retention
        self._redis, self._keys = redis, keys
        self._anchor = redis.register_script(read_script("anchor"))
        self._trim = redis.register_script(read_script("trim"))

    async def entries(self, partition: int, after: str = "", limit: int = 1000) -> list[Entry]:
        raw = await self._range(self._keys[partition].audit, after, limit)
        return [
            Entry(f"{partition}:{id.decode()}", read_entry(fields.get(b"event", b"")))
            for id, fields in raw
        ]

    async def anchors(self, partition: int, after: str = "", limit: int = 1000) -> list[Anchor]:
        raw = await self._range(self._keys[partition].anchors, after, limit)
        return [_read_anchor(partition, fields.get(b"anchor", b"")) for _, fields in raw]

    async def last_anchor(self, partition: int) -> Anchor | None:
        async with store_errors():
            raw = cast(
                StreamEntries, await self._redis.xrevrange(self._keys[partition].anchors, count=1)
            )
        return _read_anchor(partition, raw[0][1].get(b"anchor", b"")) if raw else None

    async def add_anchor(self, partition: int, anchor: Anchor) -> bool:
        async with store_errors():
            added = await self._anchor(
                keys=[self._keys[partition].anchors],
                args=[anchor.prev, _stream_id(anchor.last), anchor.root, anchor.to_line()],
            )
        return bool(added)

    async def last_export(self, partition: int) -> Anchor | None:
        async with store_errors():
            line = await self._redis.get(self._keys[partition].last_export)
        return _read_anchor(partition, line) if line else None

    async def mark_exported(self, partition: int, anchor: Anchor) -> None:
        known = await self.last_export(partition)
        if known is None or parse_position(anchor.last) > parse_position(known.last):
            async with store_errors():
                await self._redis.set(self._keys[partition].last_export, anchor.to_line())

    async def trim(self, partition: int, anchor: Anchor) -> None:
        keys, last = self._keys[partition], _stream_id(anchor.last)
        milliseconds, _, number = last.partition("-")
        async with store_errors():
            await self._trim(
                keys=[keys.audit, keys.anchors], args=[f"{milliseconds}-{int(number) + 1}", last]
            )

    async def _range(self, stream: str, after: str, limit: int) -> StreamEntries:
        start = f"({_stream_id(after)}" if after else "-"
        async with store_errors():
            return cast(StreamEntries, await self._redis.xrange(stream, start, "+", count=limit))


def _read_anchor(partition: int, stored: bytes) -> Anchor:
    try:
        anchor = Anchor.model_validate_json(stored)
    except ValueError as error:
        raise AuditUnreadable(
            f"An anchor of the audit in Redis (partition {partition}) can't be read: it was changed, or is"
            " damaged."
        ) from error
    return anchor


def _stream_id(entry: str) -> str:
    return entry.partition(":")[2]


class _Field(NamedTuple):
    """A field of a hash and its new value; the field with the head of its audit; and a field that must exist,
    or nothing is written.
    """

    hash: str
    name: str
    value: str
    chain: str
    needs: str = ""


class _StoredField(NamedTuple):
    """What was in the hash: the field's value, the head of the audit, and the store's time."""

    value: str | None
    head: str
    now: float


class RedisAuditedFields(RedisPart):
    """See `AuditedFields` for the methods."""

    def __init__(
        self, redis: Client, reader: Client, keys: Sequence[Keys], retention: float
    ) -> None:
        super().__init__(redis, reader, keys, retention)
        self.ledger = RedisLedger(redis, keys, retention)

    async def record_event(self, review_id: str, event: Event) -> None:
        keys = self._require_keys(review_id)
        field = _Field(
            keys.review(review_id),
            ATTEMPT,
            event.op or uuid4().hex,
            CHAIN,
        )
        await self._write_field(
            keys, field, review_id, lambda now, _: event.model_copy(update={"at": now})
        )

    async def record_post(
        self,
        review_id: str,
        place: Place,
        ref: MessageRef,
        gone: MessageRef | None = None,
        digest_id: str | None = None,
    ) -> MessageRef:
        keys = self._require_keys(review_id)
        field = _Field(
            keys.review(review_id),
            POST + place,
            ref.model_dump_json(exclude_defaults=True),
            CHAIN,
            MARK + digest_mark(place, digest_id) if digest_id else "",
        )

        def stays(value: str) -> bool:
            return gone is None or MessageRef.model_validate_json(value).key != gone.key

        winner = await self._write_field(
            keys,
            field,
            review_id,
            lambda now, _: delivery_event(review_id, place, ref, now),
            stays,
        )
        return MessageRef.model_validate_json(winner) if winner and stays(winner) else ref

    async def record_policy(self, agent: str, policy_hash: str) -> str | None:
        keys = self._keys[choose_partition(agent, len(self._keys))]
        name = hash_of(agent)
        async with store_errors():
            if await self._redis.hsetnx(keys.policies, name, policy_hash):
                return None
        return await self._write_field(
            keys,
            _Field(keys.policies, name, policy_hash, f"{name}:chain"),
            "",
            lambda now, before: PolicyChanged(
                agent=agent, at=now, before=before or "", policy_hash=policy_hash
            ),
        )

    async def _write_field(
        self,
        keys: Keys,
        field: _Field,
        review_id: str,
        make_event: EventFactory,
        stays: Callable[[str], bool] | None = None,
    ) -> str | None:
        """Write the field with its entry, and return the value before. If `stays` is true for the existing
        value, nothing is written. Does nothing if there is no such review.
        """
        before = await self._set_field(keys, field, review_id)
        while before is not None:
            value = before.value
            if value is not None and (value == field.value or (stays is not None and stays(value))):
                return value
            entry, head = link_entry(make_event(before.now, value), before.head)
            after = await self._set_field(
                keys, field, review_id, value or "", before.head, head, dump_entry(entry)
            )
            if after is not None and after[:2] == before[:2]:
                return before.value  # no other process was faster
            before = after
        return None

    async def _set_field(
        self, keys: Keys, field: _Field, review_id: str, *entry: str | bytes
    ) -> _StoredField | None:
        """Read the field. With `entry` (the expected value, the expected head, the new head and the entry) it
        also writes the field.
        """
        answer = await self._run_script(
            "set_with_audit",
            [field.hash, keys.audit],
            [field.name, field.value, field.chain, review_id, field.needs, *entry],
        )
        if answer is None:
            return None
        value, head, seconds, micros = answer
        return _StoredField(
            None if value is None else value.decode(),
            (head or b"").decode(),
            int(seconds) + int(micros) / 1e6,
        )
