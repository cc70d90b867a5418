"""Signing keys, and the tokens that they sign."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from ..json_checks import Json

LIFETIME = 3600  # seconds


@dataclass(frozen=True)
class SigningKey:
    """An RSA key. It is made when it is first used, and then kept until the process ends."""

    kid: str

    @cached_property
    def private(self) -> RSAPrivateKey:
        return generate_private_key(public_exponent=65537, key_size=2048)

    def jwk(self) -> Json:
        """The public key, as a JWKS lists it."""
        numbers = self.private.public_key().public_numbers()
        return {
            "kty": "RSA",
            "use": "sig",
            "kid": self.kid,
            "x5t": self.kid,
            "n": _base64url(numbers.n),
            "e": _base64url(numbers.e),
        }


BOT_FRAMEWORK_KEY = SigningKey("bot-framework-key")
ENTRA_KEY = SigningKey("entra-key")
#: A key that no key endpoint publishes: its tokens must be refused.
STRANGE_KEY = SigningKey("strange-key")


def mint(key: SigningKey, claims: Mapping[str, Any], kid: str | None = None) -> str:
    """An RS256 token. A claim that is None is left out. `kid` replaces the key's own."""
    present = {name: value for name, value in claims.items() if value is not None}
    headers = {"kid": kid or key.kid, "x5t": kid or key.kid}
    return jwt.encode(present, key.private, algorithm="RS256", headers=headers)


def read(key: SigningKey, token: str, audience: str) -> Json:
    """Returns the claims. Raises jwt.InvalidTokenError. The check uses the machine's clock, as
    the bot does.
    """
    options: Any = {"require": ["exp", "aud", "iss", "appid"]}
    public = key.private.public_key()
    return jwt.decode(token, public, algorithms=["RS256"], audience=audience, options=options)


def _base64url(number: int) -> str:
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
