"""Finds keys of this program that have a value of another type. Every write that needs one fails."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import cast

from hitl_core.errors import StoreUnavailable
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.keys import HOMES_KEY, META_KEY, TOKENS_KEY, Keys
from hitl_core.store.redis.part import RedisPart

_COMMON = {META_KEY: "hash", TOKENS_KEY: "hash", HOMES_KEY: "zset"}


class RedisForeignKeys(RedisPart):
    """See `ForeignKeys` for the method."""

    async def foreign_keys(self, missing: set[int] | None = None) -> list[str]:
        async def find(partition: int) -> list[str]:
            return await self._find_foreign(_types_of(self._keys[partition]))

        found = [*chain(*await self._ask_each(find, missing))]
        for key, type in _COMMON.items():  # each may be in another cluster slot
            try:
                found += await self._find_foreign({key: type})
            except StoreUnavailable:
                if not missing:  # its server is not one of those that are away
                    raise
        return found

    async def _find_foreign(self, types: Mapping[str, str]) -> list[str]:
        answer = await self._run_script("foreign_keys", list(types), list(types.values()))
        return [text_of(key) for key in cast(list[bytes], answer)]


def _types_of(keys: Keys) -> dict[str, str]:
    """The types of all keys of a partition that are named after nothing from outside."""
    return {
        keys.live_reviews: "zset",
        keys.due: "zset",
        keys.held: "zset",
        keys.history: "string",
        keys.events: "stream",
        keys.queues: "zset",
        keys.change_counts: "hash",
        keys.job_starts: "hash",
        keys.dead_letters: "stream",
        keys.dead_letter_counts: "hash",
        keys.audit: "stream",
        keys.anchors: "stream",
        keys.last_export: "string",
        keys.policies: "hash",
    }
