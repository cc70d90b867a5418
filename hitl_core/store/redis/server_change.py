"""Detects that Redis was restarted, or replaced by another server: it may have lost its latest writes.

Another process may know what was lost, and reports it within a few seconds (`check_history`). Until then no
call is claimed or started, because it may have run already.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from hitl_core.errors import HitlError, StoreError, StoreUnavailable
from hitl_core.store.redis.connection import Client, store_errors
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.keys import META_KEY, Keys
from hitl_core.store.redis.scripts import read_script

#: How long no call is claimed or started, in seconds. It is longer than each process needs to compare what it
#: has seen: processes do so every 2 s, and a command takes up to 1.5 s.
PAUSE = 5.0

_FIELD = "server"


class ServerChange:
    """Each partition has a server, which has a `run_id`. In a Redis Cluster a partition whose server is away,
    or was replaced, holds up no other one.
    """

    def __init__(self, redis: Client, keys: Sequence[Keys]) -> None:
        self._redis, self._keys = redis, keys
        #: By partition: the `run_id` of its server, as a script says it.
        self._run_ids: dict[int, str] = {}
        #: By partition: the `run_id` of a server that only commit.lua has found, behind a proxy.
        self._met: dict[int, str] = {}
        #: The partitions whose server may be another one now.
        self._suspects = set[int]()
        #: By `run_id`: when the pause after this server was found ends.
        self._pause_ends: dict[str, float] = {}

    async def open(self, *, may_write: bool) -> None:
        """Compare the servers with those that other processes have recorded. Call it once, at the start."""
        ids = await asyncio.gather(*map(self._read_run_id, range(len(self._keys))))
        self._run_ids = dict(enumerate(ids))
        async with store_errors():
            noted = text_of(await self._redis.hget(META_KEY, _FIELD) or b"")
            seconds, _ = await self._redis.time()
        run_ids, _, changed_at = noted.partition(" ")
        if not self._servers or (not run_ids and not may_write):
            return
        if run_ids == self._servers:
            self._begin_pause(ids, _rest_of_pause(changed_at, int(seconds)))
            return
        if run_ids:
            self._begin_pause(ids)
        if may_write:
            await self._note(int(seconds) if run_ids else 0)

    def suspect(self) -> None:
        """Call it after a command got no answer: then a server may have changed."""
        self._suspects.update(range(len(self._keys)))

    async def check(self, partition: int) -> str:
        """Call it before a call is claimed or started. Returns the `run_id` of each server that is known of
        this partition, for commit.lua: a failover may come later, and without an error.
        Raises StoreUnavailable if the caller must wait.
        """
        if partition in self._suspects:
            await self._update(partition)
        known = self._run_ids.get(partition, ""), self._met.get(partition, "")
        if time.monotonic() < max(self._pause_ends.get(each, 0.0) for each in known):
            raise StoreUnavailable(
                "Redis was restarted or replaced a moment ago. First it is checked whether it lost writes."
            )
        return known[0] and ",".join(known)

    async def meet(self, partition: int, run_id: str) -> None:
        """Record a server that commit.lua found and that is not known yet. Raises what `check` raises."""
        await self._update(partition)
        if run_id != self._run_ids.get(partition):
            self._met[partition] = run_id
            await self._begin_noted_pause([run_id])

    async def _update(self, partition: int) -> None:
        run_id = await self._read_run_id(partition)
        if not run_id or run_id != self._run_ids.get(partition):
            await self._read_all(partition, run_id)
        self._suspects.discard(partition)

    async def _read_all(self, partition: int, run_id: str) -> None:
        """A partition has another server. All are read, because a server that is away in between must not
        pass for the one that it was. Those that give no answer are unknown.
        """
        before = set(self._run_ids.values())
        others = [one for one in range(len(self._keys)) if one != partition]
        found = await asyncio.gather(*map(self._read_run_id, others), return_exceptions=True)
        ids = {one: id for one, id in zip(others, found, strict=True) if isinstance(id, str)}
        self._run_ids = {**ids, partition: run_id}
        self._suspects.update(one for one in others if one not in ids)
        self._met.clear()
        new = {*self._run_ids.values()} - before
        await self._begin_noted_pause(new | ({""} if not run_id else set()))

    async def _begin_noted_pause(self, run_ids: Iterable[str]) -> None:
        self._begin_pause(run_ids)
        with suppress(HitlError):  # the server of META_KEY may be away
            async with store_errors():
                seconds, _ = await self._redis.time()
            await self._note(int(seconds))

    def _begin_pause(self, run_ids: Iterable[str], seconds: float = PAUSE) -> None:
        self._pause_ends |= dict.fromkeys(run_ids, time.monotonic() + seconds)

    @property
    def _servers(self) -> str:
        """The `run_id` of all servers, as they are noted."""
        return ",".join(sorted({*self._run_ids.values()} - {""}))

    async def _read_run_id(self, partition: int) -> str:
        """The server's `run_id`, as its scripts see it. "" if INFO is not permitted. Raises
        StoreUnavailable.
        """
        try:
            async with store_errors():
                # The key leads to the server of the partition.
                key = self._keys[partition].history
                return text_of(await self._redis.eval(read_script("run_id"), 1, key))
        except StoreError:
            return ""

    async def _note(self, changed_at: int) -> None:
        """Record the servers for other processes. `changed_at`: seconds by Redis's clock; 0 for the first
        servers.
        """
        with suppress(HitlError):  # a server that takes no writes now
            async with store_errors():
                await self._redis.hset(META_KEY, _FIELD, f"{self._servers} {changed_at}")


def _rest_of_pause(changed_at: str, now: int) -> float:
    """A whole pause for a time that can't be read. Never more: Redis's clock may have been set back."""
    try:
        return min(PAUSE, int(changed_at) + PAUSE - now)
    except ValueError:
        return PAUSE
