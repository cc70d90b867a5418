"""What the Redis store keeps together with the entry of the audit that tells of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from uuid import uuid4

from hitl_core.audit.entry import PolicyChanged, linked
from hitl_core.model import Event, MessageRef, Place
from hitl_core.store import record
from hitl_core.store.base import delivered
from hitl_core.store.client import Client, lua, translated
from hitl_core.store.keys import Keys, digest_of

#: By the store's time, and the field's value so far.
Told = Callable[[float, str | None], Event | PolicyChanged]


class _Field(NamedTuple):
    """A field of a hash, its new value, and the field that holds the head of its audit."""

    hash: str
    name: str
    value: str
    chain: str


class _Found(NamedTuple):
    """What stood in the hash: the field's value, the head, and the store's time."""

    value: str | None
    head: str
    now: float


class Notes:
    """See `Store` for what each method promises."""

    def __init__(self, redis: Client) -> None:
        self._redis = redis
        self._script = redis.register_script(lua("note"))

    async def attempt(self, keys: Keys, review_id: str, event: Event) -> None:
        field = _Field(
            keys.review(review_id), record.ATTEMPT, event.op or uuid4().hex, record.CHAIN
        )
        await self._note(
            keys, field, review_id, lambda now, _: event.model_copy(update={"at": now})
        )

    async def post(self, keys: Keys, review_id: str, place: Place, ref: MessageRef) -> MessageRef:
        field = _Field(
            keys.review(review_id), record.POST + place, ref.model_dump_json(), record.CHAIN
        )
        winner = await self._note(
            keys, field, review_id, lambda now, _: delivered(review_id, place, ref, now), first=True
        )
        return MessageRef.model_validate_json(winner) if winner else ref

    async def policy(self, keys: Keys, agent: str, digest: str) -> str | None:
        name = digest_of(agent)
        async with translated():
            if await self._redis.hsetnx(keys.policies, name, digest):
                return None
        return await self._note(
            keys,
            _Field(keys.policies, name, digest, f"{name}:chain"),
            "",
            lambda now, before: PolicyChanged(
                agent=agent, at=now, before=before or "", digest=digest
            ),
        )

    async def _note(
        self, keys: Keys, field: _Field, review_id: str, told: Told, *, first: bool = False
    ) -> str | None:
        """Keep the field with its entry; the answer is its value before. `first`: a value that is there
        stays. Nothing where there is no such review.
        """
        found = await self._ask(keys, field, review_id, first)
        while found is not None:
            if found.value is not None and (first or found.value == field.value):
                return found.value
            entry, head = linked(told(found.now, found.value), found.head)
            then = await self._ask(keys, field, review_id, first, found.head, head, entry)
            if then is not None and then[:2] == found[:2]:
                return found.value  # nobody was faster
            found = then
        return None

    async def _ask(
        self, keys: Keys, field: _Field, review_id: str, first: bool, *entry: str
    ) -> _Found | None:
        """With the head that is expected, the next one and the entry between them: write it."""
        async with translated():
            answer = await self._script(
                keys=[field.hash, keys.audit],
                args=[field.name, field.value, int(first), field.chain, review_id, *entry],
            )
        if answer is None:
            return None
        value, head, seconds, micros = answer
        return _Found(
            None if value is None else value.decode(),
            (head or b"").decode(),
            int(seconds) + int(micros) / 1e6,
        )
