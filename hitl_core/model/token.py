"""The tokens with which agents call the HTTP API."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Self

from hitl_core.model.value import Value

_TOKEN_TEXT = re.compile(r"hitl_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


class Token(Value):
    """Gives access to the reviews of one `agent`. `created_at` is in seconds since the epoch.

    Only the hash of its text is stored (SHA-256, in hex). The secret has 256 random bits, so a slow hash is
    not needed.
    """

    id: str
    agent: str
    secret_hash: str
    created_at: float
    note: str = ""

    @classmethod
    def issue(cls, agent: str, note: str, now: float) -> tuple[Self, str]:
        """A new token and its text, `hitl_<id>_<secret>`. The text is not stored and can't be shown again."""
        id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        token = cls(id=id, agent=agent, secret_hash=_hash_of(secret), created_at=now, note=note)
        return token, f"hitl_{id}_{secret}"

    def matches(self, text: str) -> bool:
        """Whether this is the token's text."""
        shape = _TOKEN_TEXT.fullmatch(text)
        return shape is not None and hmac.compare_digest(_hash_of(shape[2]), self.secret_hash)


def parse_id(text: str) -> str | None:
    """The token's id in the text, not verified; None if the text does not look like a token."""
    shape = _TOKEN_TEXT.fullmatch(text)
    return shape[1] if shape else None


def _hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
