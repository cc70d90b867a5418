"""Fields of the Redis store that are written together with their entry of the audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import uuid4

from hitl_core.audit import PolicyChanged, link_entry
from hitl_core.model import Event, MessageRef, Place
from hitl_core.store.contract import delivery_event
from hitl_core.store.redis import review_fields
from hitl_core.store.redis.client import Client, store_errors
from hitl_core.store.redis.keys import Keys, choose_partition, digest_of
from hitl_core.store.redis.ledger import RedisLedger
from hitl_core.store.redis.part import RedisPart

#: Makes the event from the store's time and the field's value so far.
EventFactory = Callable[[float, str | None], Event | PolicyChanged]


class _Field(NamedTuple):
    """A field of a hash, its new value, and the field with the head of its audit."""

    hash: str
    name: str
    value: str
    chain: str


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

    async def record_refusal(self, review_id: str, event: Event) -> None:
        keys = self._require_keys(review_id)
        field = _Field(
            keys.review(review_id),
            review_fields.ATTEMPT,
            event.op or uuid4().hex,
            review_fields.CHAIN,
        )
        await self._write_field(
            keys, field, review_id, lambda now, _: event.model_copy(update={"at": now})
        )

    async def record_post(self, review_id: str, place: Place, ref: MessageRef) -> MessageRef:
        keys = self._require_keys(review_id)
        field = _Field(
            keys.review(review_id),
            review_fields.POST + place,
            ref.model_dump_json(),
            review_fields.CHAIN,
        )
        winner = await self._write_field(
            keys,
            field,
            review_id,
            lambda now, _: delivery_event(review_id, place, ref, now),
            first=True,
        )
        return MessageRef.model_validate_json(winner) if winner else ref

    async def record_policy(self, agent: str, digest: str) -> str | None:
        keys = self._keys[choose_partition(agent, len(self._keys))]
        name = digest_of(agent)
        async with store_errors():
            if await self._redis.hsetnx(keys.policies, name, digest):
                return None
        return await self._write_field(
            keys,
            _Field(keys.policies, name, digest, f"{name}:chain"),
            "",
            lambda now, before: PolicyChanged(
                agent=agent, at=now, before=before or "", digest=digest
            ),
        )

    async def _write_field(
        self,
        keys: Keys,
        field: _Field,
        review_id: str,
        make_event: EventFactory,
        *,
        first: bool = False,
    ) -> str | None:
        """Write the field with its entry, and return its value before. `first`: an existing value stays. Does
        nothing if there is no such review.
        """
        before = await self._set_field(keys, field, review_id, first)
        while before is not None:
            if before.value is not None and (first or before.value == field.value):
                return before.value
            entry, head = link_entry(make_event(before.now, before.value), before.head)
            after = await self._set_field(keys, field, review_id, first, before.head, head, entry)
            if after is not None and after[:2] == before[:2]:
                return before.value  # no other process was faster
            before = after
        return None

    async def _set_field(
        self, keys: Keys, field: _Field, review_id: str, first: bool, *entry: str
    ) -> _StoredField | None:
        """Read the field. With `entry` (the expected head, the new head and the entry), also write it."""
        answer = await self._run_script(
            "set_with_audit",
            [field.hash, keys.audit],
            [field.name, field.value, int(first), field.chain, review_id, *entry],
        )
        if answer is None:
            return None
        value, head, seconds, micros = answer
        return _StoredField(
            None if value is None else value.decode(),
            (head or b"").decode(),
            int(seconds) + int(micros) / 1e6,
        )
