"""The public keys with which Bot Framework signs its tokens. They are fetched in advance and kept in memory.

The SDK would fetch them during a request, and block the event loop meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
import jwt

from hitl_core.errors import HitlError

from .....health import Health
from ..bounded_client import BoundedClient

log = logging.getLogger(__name__)

#: The time between two fetches, in seconds. Bot Framework asks for at least one a day
#: (learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication).
FETCH_INTERVAL, RETRY_INTERVAL = 3600.0, 10.0
#: How long keys are used without another fetch, in seconds.
MAX_AGE = 24 * 3600.0
#: How long one fetch may take, in seconds: a click may wait for it. Before the first request nothing waits.
FETCH_TIMEOUT, START_TIMEOUT = 2.0, 10.0
#: The subject of the problem in `Health`.
SUBJECT = "Teams: signing keys"


class KeysUnavailable(HitlError):
    """No keys are known now, so no request can be checked."""


@dataclass(frozen=True)
class SigningKey:
    """`channels`: the channels whose activities the key may sign; empty if the key does not say."""

    key: Any
    channels: frozenset[str]


@dataclass(frozen=True)
class _Loaded:
    keys: dict[str, SigningKey] = field(default_factory=dict[str, SigningKey])
    at: float = -math.inf


class SigningKeys:
    """`start` and `run` fetch the keys. `find` fetches them again for an unknown key, at most every
    RETRY_INTERVAL.
    """

    def __init__(self, client: BoundedClient, url: str, health: Health) -> None:
        """`url`: the URL of a JSON Web Key Set (RFC 7517)."""
        self._client, self._url, self._health = client, url, health
        self._loaded, self._tried_at = _Loaded(), -math.inf
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Fetch the keys before the first request, which would be refused without them. If that fails, it is
        reported, and `run` tries again.
        """
        await self._fetch_if_due(START_TIMEOUT)

    async def run(self) -> None:
        """Runs until cancelled: fetches the keys every hour, and soon again after a failure."""
        while True:
            await self._fetch_if_due(FETCH_TIMEOUT)
            await asyncio.sleep(RETRY_INTERVAL if self._is_failing else FETCH_INTERVAL)

    async def find(self, id: str) -> SigningKey | None:
        """The key with this id; None if there is none. Raises KeysUnavailable, also for an unknown key while
        the newest ones can't be fetched.
        """
        if id not in self._current():
            await self._fetch_if_due(FETCH_TIMEOUT)
        keys = self._current()
        if not keys or (id not in keys and self._is_failing):
            raise KeysUnavailable("Teams' signing keys can't be fetched.")
        return keys.get(id)

    @property
    def _is_failing(self) -> bool:
        return self._tried_at > self._loaded.at

    def _current(self) -> dict[str, SigningKey]:
        return self._loaded.keys if time.monotonic() - self._loaded.at < MAX_AGE else {}

    async def _fetch_if_due(self, seconds: float) -> None:
        """One fetch for all tasks that wait. Unauthenticated requests can't cause more fetches."""
        async with self._lock:
            if time.monotonic() - self._tried_at < RETRY_INTERVAL:
                return
            self._tried_at = time.monotonic()
            try:
                async with asyncio.timeout(seconds):
                    keys = await asyncio.to_thread(_read_keys, await self._get())
            except Exception as error:  # also one that is not ours, so that `run` never ends
                why = str(error) if isinstance(error, ValueError) else type(error).__name__
                text = (
                    f"The keys that sign Teams' requests can't be fetched: {why}. Allow this machine"
                    f" to reach {httpx.URL(self._url).host}. Without keys, what people do in Teams is"
                    " refused, and their reviews wait."
                )
                self._health.report("lookup", SUBJECT, text)
            else:
                self._loaded = _Loaded(keys, time.monotonic())
                self._health.resolve("lookup", SUBJECT)

    async def _get(self) -> bytes:
        """Raises httpx.HTTPError, or ValueError for an answer other than 200."""
        answer = await self._client.get(self._url)
        if answer.status_code != 200:
            raise ValueError(f"the answer is HTTP {answer.status_code}")
        return answer.content


def _read_keys(data: bytes) -> dict[str, SigningKey]:
    """The RSA keys by their ids. Raises ValueError if there is none; the old keys are then kept."""
    try:
        entries = json.loads(data)["keys"]
        keys = dict(one for entry in entries if (one := _read_key(entry)) is not None)
    except (KeyError, TypeError, RecursionError):
        raise ValueError("the answer is no set of keys") from None
    if not keys:
        raise ValueError("the answer has no key")
    return keys


def _read_key(entry: Any) -> tuple[str, SigningKey] | None:
    """One key; None for a key of another kind, or one that can't be read."""
    if not isinstance(entry, dict):
        return None
    fields = cast("dict[str, Any]", entry)
    id, use, channels = fields.get("kid"), fields.get("use", "sig"), fields.get("endorsements")
    if not isinstance(id, str) or use != "sig" or fields.get("kty") != "RSA":
        return None
    try:
        key = jwt.PyJWK(fields, "RS256").key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    names = frozenset(map(str, cast("list[Any]", channels))) if isinstance(channels, list) else ()
    return id, SigningKey(key, frozenset(names))
