"""Small values in memory: tokens, temporary values, home views, locks, heartbeats, a channel's own data."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

from hitl_core.model import Token


class MemoryKeyValues:
    """See `Store` for the methods."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tokens: dict[str, Token] = {}
        self._channel_values = defaultdict[str, dict[str, bytes]](dict)
        self._heartbeats: dict[str, float] = {}
        self._temporary: dict[str, tuple[bytes, float]] = {}
        self._home_views: dict[str, float] = {}
        self._locks: dict[tuple[str, ...], tuple[float, str | None]] = {}

    async def save_token(self, token: Token) -> None:
        self._tokens[token.id] = token

    async def token(self, token_id: str) -> Token | None:
        return self._tokens.get(token_id)

    async def tokens(self) -> list[Token]:
        return sorted(self._tokens.values(), key=lambda token: token.created_at)

    async def damaged_tokens(self) -> list[str]:
        return []

    async def drop_token(self, token_id: str) -> bool:
        return self._tokens.pop(token_id, None) is not None

    async def save_channel_value(self, channel: str, name: str, data: bytes) -> None:
        self._channel_values[channel][name] = data

    async def add_channel_value(self, channel: str, name: str, data: bytes) -> bytes:
        return self._channel_values[channel].setdefault(name, data)

    async def channel_values(self, channel: str) -> dict[str, bytes]:
        return dict(self._channel_values[channel])

    async def drop_channel_value(self, channel: str, name: str) -> None:
        self._channel_values[channel].pop(name, None)

    async def save_temporary_value(self, key: str, data: bytes, ttl: float) -> None:
        self._temporary[key] = data, self._clock() + ttl

    async def temporary_value(self, key: str) -> bytes | None:
        data, until = self._temporary.get(key, (b"", 0.0))
        return data if until > self._clock() else None

    async def drop_temporary_value(self, key: str) -> None:
        self._temporary.pop(key, None)

    async def replace_temporary_value(
        self, key: str, old: bytes | None, new: bytes | None, ttl: float
    ) -> bool:
        known = await self.temporary_value(key)
        if known not in (old, new):
            return False
        if new is None:
            self._temporary.pop(key, None)
        else:
            self._temporary[key] = new, self._clock() + ttl
        return True

    async def record_home_view(self, user: str, now: float) -> None:
        self._home_views[user] = max(now, self._home_views.get(user, now))

    async def home_viewers(self, since: float) -> list[str]:
        views = sorted(
            ((at, user) for user, at in self._home_views.items() if at >= since), reverse=True
        )
        return [user for _, user in views]

    async def try_lock(self, name: str, ttl: float) -> bool:
        return self._take_lock((name,), None, ttl)

    async def hold_thread(self, agent: str, thread_id: str, owner: str, ttl: float) -> bool:
        return self._take_lock((agent, thread_id), owner, ttl)

    def _take_lock(self, name: tuple[str, ...], owner: str | None, ttl: float) -> bool:
        now = self._clock()
        end, holder = self._locks.get(name, (-math.inf, None))
        if end > now and (owner is None or holder != owner):
            return False
        self._locks[name] = now + ttl, owner
        return True

    async def release_thread(self, agent: str, thread_id: str, owner: str) -> None:
        if self._locks.get((agent, thread_id), (0.0, None))[1] == owner:
            del self._locks[agent, thread_id]

    async def send_heartbeat(self, process: str, ttl: float) -> None:
        self._heartbeats[process] = self._clock() + ttl

    async def is_alive(self, process: str) -> bool:
        return self._heartbeats.get(process, 0.0) > self._clock()
