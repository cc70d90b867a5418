"""The small values in Redis: locks, heartbeats and slots of processes, tokens, temporary values, home
views, and what a channel keeps.
"""

from __future__ import annotations

from typing import cast

from hitl_core.errors import StoreError
from hitl_core.model import Token
from hitl_core.store.redis.connection import store_errors
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.keys import (
    HOMES_KEY,
    TOKENS_KEY,
    alive_key,
    channel_key,
    choose_partition,
    lock_key,
    slot_key,
    temporary_key,
)
from hitl_core.store.redis.part import RedisPart

#: How long a view of the home page is remembered, in seconds.
HOME_VIEW_TTL = 3600


class RedisCoordination(RedisPart):
    """See `Coordination` for the methods."""

    async def try_lock(self, name: str, ttl: float) -> bool:
        return bool(await self._run_script("lock", [lock_key(name)], [int(ttl * 1000)]))

    async def hold_thread(self, agent: str, thread_id: str, owner: str, ttl: float) -> bool:
        key = self._thread_lock(agent, thread_id)
        return bool(await self._run_script("hold_lease", [key], [owner, int(ttl * 1000)]))

    async def release_thread(self, agent: str, thread_id: str, owner: str) -> None:
        await self._run_script("release_lease", [self._thread_lock(agent, thread_id)], [owner])

    def _thread_lock(self, agent: str, thread_id: str) -> str:
        keys = self._keys[choose_partition(thread_id, len(self._keys))]
        return keys.thread_lock(agent, thread_id)

    async def send_heartbeat(self, process: str, ttl: float) -> None:
        await self._run_script("beat", [alive_key(process)], [int(ttl * 1000)])

    async def is_alive(self, process: str) -> bool:
        return bool(await self._run_script("alive", [alive_key(process)], []))

    async def take_slot(self, name: str, every: float, burst: int = 1) -> float:
        return (
            await self._run_script("slot", [slot_key(name)], [int(every * 1000), burst, 0]) / 1000
        )

    async def pause_slots(self, name: str, seconds: float) -> None:
        await self._run_script("slot", [slot_key(name)], [0, 1, max(1, int(seconds * 1000))])


class RedisTokens(RedisPart):
    """See `Tokens` for the methods."""

    async def save_token(self, token: Token) -> None:
        async with store_errors():
            await self._redis.hset(TOKENS_KEY, token.id, token.model_dump_json())

    async def token(self, token_id: str) -> Token | None:
        data = await self._run_script("token", [TOKENS_KEY], [token_id])  # each request reads one
        return _read_token(token_id, data) if data else None

    async def tokens(self) -> list[Token]:
        found = [token for token in (await self._read_tokens()).values() if token is not None]
        return sorted(found, key=lambda token: token.created_at)

    async def damaged_tokens(self) -> list[str]:
        return [text_of(id) for id, token in (await self._read_tokens()).items() if token is None]

    async def drop_token(self, token_id: str) -> bool:
        async with store_errors():
            # A damaged id is named as the text that `text_of` makes of it.
            ids = cast(list[bytes], await self._redis.hkeys(TOKENS_KEY))
            named = [id for id in ids if text_of(id) == token_id]
            return bool(named and await self._redis.hdel(TOKENS_KEY, *named))

    async def _read_tokens(self) -> dict[bytes, Token | None]:
        """By id; None for one that can't be read."""
        async with store_errors():
            values = cast(dict[bytes, bytes], await self._redis.hgetall(TOKENS_KEY))
        return {id: _parse_token(data) for id, data in values.items()}


def _parse_token(stored: bytes) -> Token | None:
    try:
        return Token.model_validate_json(stored)
    except ValueError:
        return None


def _read_token(id: str, stored: bytes) -> Token:
    if (token := _parse_token(stored)) is None:
        raise StoreError(f"The stored token {id} can't be read: see hitl tokens list")
    return token


class RedisChannelData(RedisPart):
    """See `ChannelData` for the methods."""

    async def save_channel_value(self, channel: str, name: str, data: bytes) -> None:
        async with store_errors():
            await self._redis.hset(channel_key(channel), name, data)

    async def add_channel_value(self, channel: str, name: str, data: bytes) -> bytes:
        return cast(
            bytes, await self._run_script("add_value", [channel_key(channel)], [name, data])
        )

    async def channel_values(self, channel: str) -> dict[str, bytes]:
        async with store_errors():
            values = cast(dict[bytes, bytes], await self._redis.hgetall(channel_key(channel)))
        return {text_of(name): data for name, data in values.items()}

    async def drop_channel_value(self, channel: str, name: str) -> None:
        async with store_errors():
            await self._redis.hdel(channel_key(channel), name)


class RedisTemporaryValues(RedisPart):
    """See `TemporaryValues` for the methods."""

    async def save_temporary_value(self, key: str, data: bytes, ttl: float) -> None:
        async with store_errors():
            await self._redis.set(temporary_key(key), data, px=int(ttl * 1000))

    async def temporary_value(self, key: str) -> bytes | None:
        async with store_errors():
            return cast(bytes | None, await self._redis.get(temporary_key(key)))

    async def drop_temporary_value(self, key: str) -> None:
        async with store_errors():
            await self._redis.delete(temporary_key(key))

    async def replace_temporary_value(
        self, key: str, old: bytes | None, new: bytes | None, ttl: float
    ) -> bool:
        args = [old or b"", new or b"", int(ttl * 1000)]
        return bool(await self._run_script("replace_value", [temporary_key(key)], args))

    async def record_home_view(self, user: str, now: float) -> None:
        await self._run_script("home_view", [HOMES_KEY], [user, now, HOME_VIEW_TTL])

    async def home_viewers(self, since: float) -> list[str]:
        async with store_errors():
            users = cast(list[bytes], await self._redis.zrevrangebyscore(HOMES_KEY, "+inf", since))
        return [text_of(user) for user in users]
