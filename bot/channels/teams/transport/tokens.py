"""The bot's own tokens for calls to the Connector and to Graph.

learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property

import httpx

from ...contract import Undeliverable, Unreachable
from .cloud import Cloud
from .errors import check_status, error_translation, read_data
from .sdk import managed_identity

#: How long before its end a token is replaced, in seconds.
MARGIN = 300.0
#: How long a managed identity's token is used, in seconds. The SDK caches it too, and knows its end.
_IDENTITY_AGE = 600.0
_NAME = "Microsoft Entra's token endpoint"


@dataclass(frozen=True)
class Credentials:
    """The credentials of the bot's registration, for one tenant. Ids are in lower case. Either `secret` or
    `managed_identity` is set; the latter is a client id, or `system`.
    """

    client_id: str
    tenant_id: str
    secret: str = ""
    managed_identity: str = ""


class Tokens:
    """One token for each scope. All tasks that wait for it share one fetch."""

    def __init__(self, http: httpx.AsyncClient, credentials: Credentials, cloud: Cloud) -> None:
        self._http, self._credentials, self._cloud = http, credentials, cloud
        self._tokens: dict[str, tuple[str, float]] = {}
        self._lock = asyncio.Lock()

    @cached_property
    def _fetch_by_identity(self) -> Callable[[str], Awaitable[str]]:
        given = self._credentials
        return managed_identity(given.client_id, given.tenant_id, given.managed_identity)

    async def token(self, scope: str) -> str:
        """Raises Unreachable, also if the credentials are wrong: no card must be given up because of them."""
        async with self._lock:
            token, until = self._tokens.get(scope, ("", 0.0))
            if until <= time.monotonic():
                token, seconds = await self._fetch(scope)
                self._tokens[scope] = token, time.monotonic() + seconds
            return token

    def forget(self, scope: str) -> None:
        """Forget a refused token. The next call fetches another one."""
        self._tokens.pop(scope, None)

    async def _fetch(self, scope: str) -> tuple[str, float]:
        """A token, and for how many seconds to use it."""
        if self._credentials.managed_identity:
            async with error_translation("the managed identity's endpoint"):
                return await self._fetch_by_identity(scope), _IDENTITY_AGE
        async with error_translation(_NAME):
            answer = await self._http.post(
                self._cloud.login,
                data={
                    "grant_type": "client_credentials",
                    "client_id": self._credentials.client_id,
                    "client_secret": self._credentials.secret,
                    "scope": scope,
                },
            )
            try:
                check_status(_NAME, answer)
            except (Undeliverable, Unreachable) as error:
                check = "check TEAMS_CLIENT_ID, TEAMS_CLIENT_SECRET and TEAMS_TENANT_ID"
                hint = f": {check}" if answer.is_client_error else ""
                raise Unreachable(f"{error}{hint}") from error
            data = read_data(answer)
            return str(data["access_token"]), max(1.0, float(data["expires_in"]) - MARGIN)
