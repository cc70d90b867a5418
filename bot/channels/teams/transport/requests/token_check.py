"""Checks the token of a request: the SDK's check, with keys that were fetched in advance, and the checks that
the SDK leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jwt

from .. import sdk
from .guard import CHANNEL_ID, Forbidden, Guard
from .signing_keys import SigningKey, SigningKeys

#: The longest token, in characters. Bot Framework's tokens have about 1,200.
MAX_TOKEN = 6000


class TokenCheck:
    def __init__(self, guard: Guard, keys: SigningKeys) -> None:
        self._guard, self._keys = guard, keys
        self._make_validator = sdk.token_validator(guard.client_id)

    async def check(self, token: str) -> Mapping[str, Any]:
        """The claims. Raises Forbidden, or KeysUnavailable."""
        try:
            key = await self._find_key(token)
            claims = await self._make_validator(key.key).validate_token(token)
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            # Only the kind of the error is used, because its text may quote the token.
            raise Forbidden(f"the token is not valid ({type(error).__name__})") from None
        self._guard.check_claims(claims)
        return claims

    async def _find_key(self, token: str) -> SigningKey:
        header = jwt.get_unverified_header(token)
        if header.get("alg") != "RS256":
            raise Forbidden("the token is not signed with RS256")
        key = await self._keys.find(str(header.get("kid")))
        if key is None:
            raise Forbidden("the token is signed with an unknown key")
        if key.channels and CHANNEL_ID not in key.channels:
            raise Forbidden("the token is signed with a key of another channel")
        return key
