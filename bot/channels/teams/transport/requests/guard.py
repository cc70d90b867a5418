"""Checks what a valid token does not prove: that the request comes from Teams, is of our tenant, is for this
bot, and is by a known person.

The token proves that Bot Framework sent the request to our app. It says nothing about the body. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hitl_core.model import is_guid

from .activity import Activity

ISSUER = "https://api.botframework.com"
CHANNEL_ID = "msteams"
#: The hosts of Teams' Connector. Our answers, with our token, are sent there.
SERVICE_HOSTS = frozenset({"smba.trafficmanager.net", "smba.infra.gcc.teams.microsoft.com"})
SERVICE_DOMAIN = ".botframework.com"
#: Activities with which people decide. Others may be Teams' own, without a person.
PERSONAL_TYPES = frozenset({"invoke", "message"})


class Forbidden(Exception):
    """The request is refused. The text quotes nothing of it."""


@dataclass(frozen=True)
class Guard:
    """`client_id` and `tenant_id` are in lower case. `cloud_url`: the address of a sandbox; then only its
    addresses are accepted as service URLs.
    """

    client_id: str
    tenant_id: str
    cloud_url: str = ""

    def check_claims(self, claims: Mapping[str, Any]) -> None:
        """Checks claims after the SDK, which accepts a token without `exp`, and a token of another issuer
        (Agent 365). Raises Forbidden.
        """
        if claims.get("iss") != ISSUER:
            raise Forbidden("the token is not Bot Framework's")
        if not isinstance(claims.get("exp"), int | float):
            raise Forbidden("the token never expires")
        if not isinstance(url := claims.get("serviceurl"), str) or not url:
            raise Forbidden("the token has no service URL")

    def check_activity(self, activity: Activity, claims: Mapping[str, Any]) -> None:
        """Raises Forbidden. `claims` must be checked already."""
        url = activity.service_url
        if url.rstrip("/") != str(claims["serviceurl"]).rstrip("/"):
            raise Forbidden("its service URL is not the token's")
        if not self._is_service_url(url):
            raise Forbidden("its service URL is not one of Teams'")
        if activity.channel_id != CHANNEL_ID:
            raise Forbidden("it is not from Teams")
        if activity.recipient.id.lower() != f"28:{self.client_id}":
            raise Forbidden("it is for another bot")
        self._check_tenant(activity)
        if (id := activity.sender.aad_object_id) is not None and not is_guid(id.lower()):
            raise Forbidden("its sender's aadObjectId is no GUID")
        if activity.type in PERSONAL_TYPES and activity.sender.person is None:
            raise Forbidden("its sender has no aadObjectId")

    def _check_tenant(self, activity: Activity) -> None:
        """Raises Forbidden. If a person did something, both fields are there."""
        tenants = activity.tenant_ids
        needed = 2 if activity.type in PERSONAL_TYPES else 1
        if len(tenants) < needed:
            raise Forbidden("it does not name its tenant")
        if set(tenants) != {self.tenant_id}:
            raise Forbidden("it is of another tenant")

    def _is_service_url(self, url: str) -> bool:
        if self.cloud_url:
            return f"{url}/".startswith(f"{self.cloud_url.rstrip('/')}/")
        return is_teams_url(url)


def is_teams_url(url: str) -> bool:
    """Whether this is an address of Teams' Connector: https, one of its hosts, and nothing in the URL that
    hides another host.
    """
    host = https_host(url)
    if "?" in url or "#" in url:
        return False
    return host in SERVICE_HOSTS or host.endswith(SERVICE_DOMAIN)


def https_host(url: str) -> str:
    """The host of an https URL with the usual port; "" for any other URL, and for one that hides its host."""
    if not url.isascii() or not url.isprintable() or "\\" in url or " " in url:
        return ""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme != "https" or port not in (None, 443) or "@" in parts.netloc:
        return ""
    return parts.hostname or ""
