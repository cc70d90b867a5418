"""Tokens: the bot gets its own from Entra with msal, and Bot Framework sends others with its requests."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import jwt
import msal
import pytest
import requests
from requests.adapters import HTTPAdapter

from teams_sandbox.login import CONNECTOR, GRAPH, STRANGE_KEY
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import CLIENT_ID, GLOBEX_TENANT, TENANT, ids
from tests.teams_sandbox.conftest import Rest, code_of

ENTRA = "https://login.microsoftonline.com"


class Redirect(HTTPAdapter):
    """Sends requests for Entra to the sandbox."""

    def __init__(self, login_url: str) -> None:
        super().__init__()
        self._login_url = login_url

    def send(self, request: requests.PreparedRequest, *args: Any, **more: Any) -> Any:
        assert request.url is not None
        request.url = request.url.replace(ENTRA, self._login_url, 1)
        return super().send(request, *args, **more)


def take_token(sandbox: Sandbox, scope: str, tenant: str, secret: str) -> dict[str, Any]:
    """What msal gives for client credentials."""
    with requests.Session() as session:
        session.mount(f"{ENTRA}/", Redirect(sandbox.login_url))
        application = msal.ConfidentialClientApplication(
            CLIENT_ID,
            client_credential=secret,
            authority=f"{ENTRA}/{tenant}",
            http_client=session,
        )
        answer: Any = application.acquire_token_for_client([scope])
        return answer


@pytest.mark.parametrize("audience", [CONNECTOR, GRAPH])
async def test_msal_gets_a_token_with_the_right_secret(sandbox: Sandbox, audience: str):
    secret = sandbox.app.client_secret
    answer = await asyncio.to_thread(take_token, sandbox, f"{audience}/.default", TENANT, secret)
    claims = jwt.decode(answer["access_token"], options={"verify_signature": False})
    assert (claims["aud"], claims["appid"], claims["tid"]) == (audience, CLIENT_ID, TENANT)
    assert sandbox.login.tokens == {audience: 1}


async def test_a_wrong_secret_scope_or_tenant_gets_none(sandbox: Sandbox):
    scope, secret = f"{CONNECTOR}/.default", sandbox.app.client_secret
    wrong = await asyncio.to_thread(take_token, sandbox, scope, TENANT, "wrong")
    assert wrong["error"] == "invalid_client"
    other = await asyncio.to_thread(take_token, sandbox, "https://x/.default", TENANT, secret)
    assert other["error"] == "invalid_scope"
    for tenant in (GLOBEX_TENANT, "botframework.com"):
        with pytest.raises(ValueError, match="authority"):
            await asyncio.to_thread(take_token, sandbox, scope, tenant, secret)


def test_msal_itself_takes_no_http_authority(sandbox: Sandbox):
    """If this fails, the detour by an http_client is needed no longer."""
    with pytest.raises(ValueError, match="https"):
        msal.ConfidentialClientApplication(
            CLIENT_ID, client_credential="x", authority=f"{sandbox.login_url}/{TENANT}"
        )


@pytest.mark.parametrize(
    "change",
    [
        {"appid": GLOBEX_TENANT},
        {"aud": GRAPH},
        {"exp": 1},
        {"exp": None},
        {"key": STRANGE_KEY},
    ],
)
async def test_the_connector_takes_only_tokens_of_the_app(
    rest: Rest, sandbox: Sandbox, change: dict[str, Any]
):
    rest.token = sandbox.login.entra_token(CONNECTOR, **change)
    assert code_of(await rest.post(ids.OPS)) == (401, "Unauthorized")
    rest.token = "nothing"
    assert code_of(await rest.post(ids.OPS)) == (401, "Unauthorized")


@pytest.mark.filterwarnings("ignore::FutureWarning")  # the SDK says so where it is experimental
async def test_the_sdk_accepts_a_token_of_bot_framework_and_no_other(sandbox: Sandbox):
    from microsoft_teams.api.auth.cloud_environment import PUBLIC
    from microsoft_teams.apps.auth.token_validator import InboundActivityTokenValidator

    cloud = replace(PUBLIC, openid_metadata_url=sandbox.openid_metadata_url)
    validator = InboundActivityTokenValidator(CLIENT_ID, cloud=cloud)

    def validate(token: str) -> dict[str, Any]:
        return asyncio.run(validator.validate_token(token, sandbox.service_url))

    good = sandbox.login.bot_framework_token(sandbox.service_url)
    assert (await asyncio.to_thread(validate, good))["aud"] == CLIENT_ID
    bad = sandbox.login.bot_framework_token(sandbox.service_url, STRANGE_KEY)
    with pytest.raises(jwt.PyJWKClientError):
        await asyncio.to_thread(validate, bad)


async def test_the_metadata_name_the_keys(sandbox: Sandbox):
    async with httpx.AsyncClient() as http:
        metadata = (await http.get(sandbox.openid_metadata_url)).json()
        [key] = (await http.get(metadata["jwks_uri"])).json()["keys"]
    assert "msteams" in key["endorsements"]


async def test_only_this_machine_may_use_the_sandbox(sandbox: Sandbox):
    async with httpx.AsyncClient() as http:
        answer = await http.get(sandbox.openid_metadata_url, headers={"Host": "evil.example"})
    assert answer.status_code == 403
