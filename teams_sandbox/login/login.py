"""Entra's token endpoint for client credentials, and the documents of OpenID.

https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

import jwt
from aiohttp import web

from ..errors import TeamsError
from ..faults import Faults, fault_response
from ..json_checks import Json
from ..workspace import Workspace
from .tokens import BOT_FRAMEWORK_KEY, ENTRA_KEY, LIFETIME, SigningKey, mint, read

CONNECTOR, GRAPH = "https://api.botframework.com", "https://graph.microsoft.com"
ENTRA_HOST, BOT_FRAMEWORK_HOST = "login.microsoftonline.com", "login.botframework.com"
ENTRA = f"https://{ENTRA_HOST}"
ISSUER = "https://api.botframework.com"


class Login:
    """`tokens` counts the tokens that the bot got, by audience."""

    def __init__(self, workspace: Workspace, faults: Faults, url: Callable[[], str]) -> None:
        self._workspace, self._faults, self._url = workspace, faults, url
        self.tokens: dict[str, int] = {}

    def routes(self) -> list[web.RouteDef]:
        entra, keys = f"/{ENTRA_HOST}/{{tenant}}", f"/{BOT_FRAMEWORK_HOST}/v1/.well-known"
        return [
            web.get(f"/{ENTRA_HOST}/common/discovery/instance", self._instances),
            web.get(f"{entra}/v2.0/.well-known/openid-configuration", self._discover),
            web.get(f"{entra}/discovery/v2.0/keys", self._entra_keys),
            web.post(f"{entra}/oauth2/v2.0/token", self._give_token),
            web.get(f"{keys}/openidconfiguration", self._metadata),
            web.get(f"{keys}/keys", self._bot_framework_keys),
        ]

    def bot_framework_token(
        self, service_url: str, key: SigningKey = BOT_FRAMEWORK_KEY, **changes: Any
    ) -> str:
        """The token that Bot Framework sends with an activity. `changes` replace claims; None removes one."""
        now = int(time.time())
        claims = {
            "serviceurl": service_url,
            "nbf": now - 60,
            "exp": now + LIFETIME,
            "iss": ISSUER,
            "aud": self._workspace.app.client_id,
        }
        return mint(key, {**claims, **changes})

    def entra_token(self, audience: str, key: SigningKey = ENTRA_KEY, **changes: Any) -> str:
        """A token that Entra gives to the app itself, for the Connector or for Graph."""
        now, app, tenant = int(time.time()), self._workspace.app, self._workspace.tenant_id
        claims: Json = {
            "aud": audience,
            "iss": f"https://sts.windows.net/{tenant}/",
            "iat": now,
            "nbf": now - 60,
            "exp": now + LIFETIME,
            "appid": app.client_id,
            "tid": tenant,
            "ver": "1.0",
        }
        if audience == GRAPH:
            claims["roles"] = sorted(app.permissions)
        return mint(key, {**claims, **changes})

    def check(self, request: web.Request, audience: str) -> None:
        """Raises TeamsError unless the request has a token of ours for this audience."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            if kind != "Bearer":
                raise jwt.InvalidTokenError("there is no bearer token")
            claims = read(ENTRA_KEY, token, audience)
            if claims["appid"] != self._workspace.app.client_id:
                raise jwt.InvalidTokenError("it is of another app")
        except jwt.InvalidTokenError as error:
            code = "InvalidAuthenticationToken" if audience == GRAPH else "Unauthorized"
            raise TeamsError(401, code, f"Authorization has been denied: {error}") from None

    async def _instances(self, request: web.Request) -> web.Response:
        """The names of Entra's hosts. msal asks for them before it uses its cache."""
        names = [ENTRA_HOST, "login.windows.net", "login.microsoft.com", "sts.windows.net"]
        network = {
            "preferred_network": ENTRA_HOST,
            "preferred_cache": "login.windows.net",
            "aliases": names,
        }
        return web.json_response({"api-version": "1.1", "metadata": [network]})

    async def _discover(self, request: web.Request) -> web.Response:
        tenant = request.match_info["tenant"]
        if not self._knows(tenant):
            return web.json_response(_no_tenant(tenant), status=400)
        base = f"{ENTRA}/{tenant}"
        return web.json_response(
            {
                "token_endpoint": f"{base}/oauth2/v2.0/token",
                "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"],
                "jwks_uri": f"{base}/discovery/v2.0/keys",
                "issuer": f"{base}/v2.0",
                "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
                "device_authorization_endpoint": f"{base}/oauth2/v2.0/devicecode",
                "id_token_signing_alg_values_supported": ["RS256"],
                "response_types_supported": ["code", "id_token", "code id_token"],
                "subject_types_supported": ["pairwise"],
                "tenant_region_scope": "EU",
            }
        )

    async def _give_token(self, request: web.Request) -> web.StreamResponse:
        fault = self._faults.next_fault("token")
        if fault is not None:
            return await fault_response(request, fault)
        form = {name: str(value) for name, value in (await request.post()).items()}
        error = self._problem_of(request.match_info["tenant"], form)
        if error is not None:
            status, body = error
            return web.json_response(body, status=status)
        audience = form["scope"].removesuffix("/.default")
        self.tokens[audience] = self.tokens.get(audience, 0) + 1
        token = self.entra_token(audience)
        times = {"expires_in": LIFETIME - 1, "ext_expires_in": LIFETIME - 1}
        return web.json_response({"token_type": "Bearer", "access_token": token, **times})

    def _problem_of(self, tenant: str, form: dict[str, str]) -> tuple[int, Json] | None:
        app = self._workspace.app
        if not self._knows(tenant):
            return 400, _no_tenant(tenant)
        if form.get("grant_type") != "client_credentials":
            return 400, _error("unsupported_grant_type", 70003, "The grant type is not supported.")
        if form.get("client_id") != app.client_id:
            text = f"Application with identifier '{form.get('client_id')}' was not found."
            return 400, _error("unauthorized_client", 700016, text)
        given = form.get("client_secret", "").encode()
        if not secrets.compare_digest(given, app.client_secret.encode()):
            return 401, _error("invalid_client", 7000215, "Invalid client secret provided.")
        if form.get("scope") not in (f"{CONNECTOR}/.default", f"{GRAPH}/.default"):
            text = f"The provided value for scope {form.get('scope')} is not valid."
            return 400, _error("invalid_scope", 1002012, text)
        return None

    def _knows(self, tenant: str) -> bool:
        """A single-tenant app gets tokens only from its own tenant."""
        return tenant.lower() == self._workspace.tenant_id

    async def _entra_keys(self, request: web.Request) -> web.Response:
        return web.json_response({"keys": [ENTRA_KEY.jwk()]})

    async def _metadata(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "issuer": ISSUER,
                "authorization_endpoint": "https://invalid.botframework.com",
                "jwks_uri": f"{self._url()}/{BOT_FRAMEWORK_HOST}/v1/.well-known/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
                "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            }
        )

    async def _bot_framework_keys(self, request: web.Request) -> web.Response:
        key = BOT_FRAMEWORK_KEY.jwk() | {"endorsements": ["msteams", "webchat", "emulator"]}
        return web.json_response({"keys": [key]})


def _error(error: str, code: int, text: str) -> Json:
    description = f"AADSTS{code}: {text}"
    return {"error": error, "error_description": description, "error_codes": [code]}


def _no_tenant(tenant: str) -> Json:
    return _error("invalid_request", 90002, f"Tenant '{tenant}' not found.")
