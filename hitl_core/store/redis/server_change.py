"""Detects that Redis was restarted, or replaced by another server: it may have lost its latest writes.

Another process may know what was lost, and reports it within a few seconds (`check_history`). Until then no
call is claimed or started, because it may have run already.
"""

from __future__ import annotations

import time
from contextlib import suppress

from hitl_core.errors import HitlError, StoreError, StoreUnavailable
from hitl_core.store.redis.connection import Client, servers_of, store_errors
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.keys import META_KEY
from hitl_core.store.redis.scripts import read_script

#: How long no call is claimed or started, in seconds. It is longer than each process needs to compare what it
#: has seen: processes do so every 2 s, and a command takes up to 1.5 s.
PAUSE = 5.0

_FIELD = "server"


class ServerChange:
    """`is_possible` is set after a command got no answer: then the server may have changed."""

    def __init__(self, redis: Client) -> None:
        self.is_possible = False
        self._redis = redis
        self._run_id = ""
        #: By partition: the `run_id` of a server that only commit.lua has found, behind a proxy.
        self._met: dict[int, str] = {}
        self._pause_ends = 0.0

    async def open(self, *, may_write: bool) -> None:
        """Compare the server with the one that other processes have recorded. Call it once, at the start."""
        self._run_id = await self._read_run_id()
        async with store_errors():
            noted = text_of(await self._redis.hget(META_KEY, _FIELD) or b"")
            seconds, _ = await self._redis.time()
        run_id, _, changed_at = noted.partition(" ")
        if not self._run_id or (not run_id and not may_write):
            return
        if run_id == self._run_id:
            self._pause_ends = time.monotonic() + _rest_of_pause(changed_at, int(seconds))
            return
        if run_id:
            self._pause_ends = time.monotonic() + PAUSE
        if may_write:
            await self._note(int(seconds) if run_id else 0)

    async def check(self, partition: int) -> str:
        """Call it before a call is claimed or started. Returns the `run_id` of each server that is known, for
        commit.lua: a failover may come later, and without an error.
        Raises StoreUnavailable if the caller must wait.
        """
        if self.is_possible:
            await self._update()
        if time.monotonic() < self._pause_ends:
            raise StoreUnavailable(
                "Redis was restarted or replaced a moment ago. First it is checked whether it lost writes."
            )
        return self._run_id and f"{self._run_id},{self._met.get(partition, '')}"

    async def meet(self, partition: int, run_id: str) -> None:
        """commit.lua has found that this server, which is not known, has the partition. Raises what `check`
        raises.
        """
        self.is_possible = True
        await self._update()
        if run_id not in self._run_id:
            self._met[partition] = run_id
            await self._begin_pause()

    async def _update(self) -> None:
        run_id = await self._read_run_id()
        if not run_id or run_id != self._run_id:
            self._run_id = run_id
            self._met.clear()
            await self._begin_pause()
        self.is_possible = False

    async def _begin_pause(self) -> None:
        self._pause_ends = time.monotonic() + PAUSE
        async with store_errors():
            seconds, _ = await self._redis.time()
        await self._note(int(seconds))

    async def _read_run_id(self) -> str:
        """The servers' `run_id`, as their scripts see it. "" if INFO is not permitted. Raises
        StoreUnavailable.
        """
        script = read_script("run_id")
        try:
            async with store_errors():
                ids = [await each.eval(script, 0) for each in await servers_of(self._redis)]
        except StoreError:
            return ""
        return ",".join(sorted(map(text_of, ids)))

    async def _note(self, changed_at: int) -> None:
        """Record the server for other processes. `changed_at`: seconds by Redis's clock; 0 for the first
        server.
        """
        with suppress(HitlError):  # a server that takes no writes now
            async with store_errors():
                await self._redis.hset(META_KEY, _FIELD, f"{self._run_id} {changed_at}")


def _rest_of_pause(changed_at: str, now: int) -> float:
    """A whole pause for a time that can't be read. Never more: Redis's clock may have been set back."""
    try:
        return min(PAUSE, int(changed_at) + PAUSE - now)
    except ValueError:
        return PAUSE
