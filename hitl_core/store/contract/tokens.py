"""The tokens of the HTTP API."""

from __future__ import annotations

from typing import Protocol

from hitl_core.model import Token


class Tokens(Protocol):
    """They are kept until they are revoked."""

    async def save_token(self, token: Token) -> None: ...

    async def token(self, token_id: str) -> Token | None: ...

    async def tokens(self) -> list[Token]:
        """The oldest first."""
        ...

    async def drop_token(self, token_id: str) -> bool:
        """Revoke the token. False if there was none."""
        ...
