"""The tokens of the HTTP API, in one Redis hash."""

from __future__ import annotations

from typing import cast

from hitl_core.model import Token
from hitl_core.store.redis.client import store_errors
from hitl_core.store.redis.keys import TOKENS_KEY
from hitl_core.store.redis.part import RedisPart


class RedisTokens(RedisPart):
    """See `Tokens` for the methods."""

    async def save_token(self, token: Token) -> None:
        async with store_errors():
            await self._redis.hset(TOKENS_KEY, token.id, token.model_dump_json())

    async def token(self, token_id: str) -> Token | None:
        async with store_errors():
            data = await self._redis.hget(TOKENS_KEY, token_id)
        return Token.model_validate_json(data) if data else None

    async def tokens(self) -> list[Token]:
        async with store_errors():
            values = cast(list[bytes], await self._redis.hvals(TOKENS_KEY))
        return sorted(map(Token.model_validate_json, values), key=lambda token: token.created_at)

    async def drop_token(self, token_id: str) -> bool:
        async with store_errors():
            return bool(await self._redis.hdel(TOKENS_KEY, token_id))
