"""The only module that imports Microsoft's Teams SDK. Normally the import takes a second, reads a file `.env`
into the environment, and warns about its experimental parts. Here the environment stays unchanged, and there
are no warnings.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any


def token_validator(client_id: str) -> Callable[[Any], Any]:
    """Signing key → the SDK's TokenValidator for tokens of Bot Framework (not for those of Entra)."""
    validator_type = _import_auth().TokenValidator

    def make(key: Any) -> Any:
        validator = validator_type.for_service(client_id)
        validator._jwks_client = _OneKey(key)
        return validator

    return make


def managed_identity(
    client_id: str, tenant_id: str, identity: str
) -> Callable[[str], Awaitable[str]]:
    """Scope → a token for the bot, by the managed identity of the machine: `identity` is `system` or its
    client id. Raises ValueError or OSError if there is none.
    """
    _import_auth()
    from microsoft_teams.api.auth.credentials import (
        FederatedIdentityCredentials,
        ManagedIdentityCredentials,
    )
    from microsoft_teams.apps.token_manager import TokenManager

    if identity.lower() == client_id:  # the registration is the identity itself
        credentials: Any = ManagedIdentityCredentials(client_id=client_id, tenant_id=tenant_id)
    elif identity == "system":
        credentials = FederatedIdentityCredentials(
            client_id=client_id, managed_identity_type="system", tenant_id=tenant_id
        )
    else:
        credentials = FederatedIdentityCredentials(
            client_id=client_id,
            managed_identity_type="user",
            managed_identity_client_id=identity,
            tenant_id=tenant_id,
        )
    manager = TokenManager(credentials)

    async def fetch(scope: str) -> str:
        token = await manager.get_app_token(scope, tenant_id)
        if token is None:
            raise ValueError("no token")
        return str(token)

    return fetch


class _OneKey:
    """Replaces the SDK's client of key sets, which would fetch them on the event loop."""

    def __init__(self, key: Any) -> None:
        self.key = key

    def get_signing_key_from_jwt(self, token: str) -> _OneKey:
        return self


@cache
def _import_auth() -> Any:
    with _restore_environment():
        import microsoft_teams.apps.auth

    # It logs an error for each wrong token, and anybody may send these.
    logging.getLogger("microsoft_teams.apps.auth.token_validator").setLevel(logging.CRITICAL)
    return microsoft_teams.apps.auth


@contextmanager
def _restore_environment() -> Generator[None, None, None]:
    before = dict(os.environ)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
