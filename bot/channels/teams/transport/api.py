"""Calls the Connector and Graph. Their errors become ChannelErrors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar
from urllib.parse import quote

import httpx

from hitl_core.model import is_guid

from ....health import Health
from ...answers import Data, NoAnswer
from ...contract import NotSent, Undeliverable, Unreachable
from ...look_up_api import UNREADABLE, LookUpApi
from .cloud import CONNECTOR_SCOPE, GRAPH_SCOPE, Cloud
from .errors import check_status, error_translation, read_data
from .tokens import Tokens

V = TypeVar("V")


@dataclass(frozen=True)
class Request:
    """`name`: for people. `needed`: the permission that Graph requires. `about`: see `LookUp`."""

    name: str
    verb: Literal["GET", "POST", "PUT", "DELETE"]
    url: str
    scope: str
    body: Data | None = None
    needed: str = ""
    about: str = ""


class Api(LookUpApi[Request]):
    """Every method raises RateLimited, Unreachable or Undeliverable; look-ups also raise LookupFailed.
    `timeout` is the time limit of one call, in seconds.
    """

    def __init__(
        self, http: httpx.AsyncClient, tokens: Tokens, cloud: Cloud, health: Health, timeout: float
    ) -> None:
        super().__init__(health)
        self._http, self._tokens, self._cloud, self._timeout = http, tokens, cloud, timeout

    def connector(
        self,
        verb: Literal["GET", "POST", "PUT", "DELETE"],
        service_url: str,
        *path: str,
        body: Data | None = None,
        query: str = "",
        about: str = "",
    ) -> Request:
        """A call of the Connector. `path` follows `v3`. If `service_url` is "", it is the default address."""
        base = (service_url or self._cloud.connector).rstrip("/")
        what = f"{verb} {path[-1] if verb == 'GET' and path[-1].isalpha() else path[0]}"
        url = f"{base}/v3/{_join(path)}{f'?{query}' if query else ''}"
        return Request(f"Teams' {what}", verb, url, CONNECTOR_SCOPE, body, about=about)

    def graph(self, *path: str, query: str = "", needed: str, about: str = "") -> Request:
        """A look-up in Graph, with the permission that it needs."""
        url = f"{self._cloud.graph}/{_join(path)}{f'?{query}' if query else ''}"
        name = f"Graph's {'/'.join(part for part in path if part.replace('.', '').isalpha())}"
        return Request(name, "GET", url, GRAPH_SCOPE, needed=needed, about=about)

    async def call(self, request: Request) -> Data:
        """The JSON object in the answer; {} if it has none."""
        may_have_effect = False
        try:
            async with error_translation(request.name), asyncio.timeout(self._timeout):
                token = await self._tokens.token(request.scope)
                may_have_effect = request.verb != "GET"
                return await self._send(request, token)
        except Unreachable as error:
            if may_have_effect:
                raise
            raise NotSent(str(error)) from error.__cause__

    async def _send(self, request: Request, token: str) -> Data:
        answer = await self._http.request(
            request.verb,
            request.url,
            json=request.body,
            headers={"Authorization": f"Bearer {token}"},
        )
        if answer.status_code == 401:
            self._tokens.forget(request.scope)
        check_status(request.name, answer)
        return read_data(answer) if request.verb != "DELETE" else {}

    async def call_and_read(self, request: Request, read: Callable[[Data], V]) -> V:
        """Like `call`, with the answer read by `read`. If the answer can't be read, it raises Unreachable,
        because the call may have succeeded.
        """
        data = await self.call(request)
        async with error_translation(request.name):
            return read(data)

    async def fetch(self, question: Request) -> Data:
        try:
            return await self.call(question)
        except Unreachable as error:
            if isinstance(error.__cause__, ValueError):  # its body is no JSON: it is no outage
                raise NoAnswer(UNREADABLE) from error
            raise
        except Undeliverable as error:
            if error.error not in _DENIED:
                raise
            text, needed = str(error), question.needed
            raise Undeliverable(text, error=error.error, needed=needed) from error

    def next_page(self, question: Request, answer: Data) -> Request | None:
        url = _next_page(question, answer)
        return replace(question, url=url) if url else None

    def hint(self, needed: str) -> str:
        if not needed:
            return ""
        return f"; an administrator must grant the app {needed}: see docs/teams.md"


#: Graph's errors for an app without the permission.
_DENIED = frozenset({"Authorization_RequestDenied", "Forbidden", "AccessDenied", "UnknownError"})


def read_guid(value: object) -> str:
    """The value as an id in Entra. Raises ValueError if it is none."""
    if not isinstance(value, str) or not is_guid(value.lower()):
        raise ValueError("no id")
    return value.lower()


def _join(path: tuple[str, ...]) -> str:
    return "/".join(quote(part, safe="") for part in path)


def _next_page(request: Request, answer: Data) -> str:
    """The URL of the next page; "" on the last one. Raises ValueError for another address, because our token
    would be sent there.
    """
    if token := answer.get("continuationToken"):
        base, _, query = request.url.partition("?")
        kept = [part for part in query.split("&") if part and "continuationToken" not in part]
        return f"{base}?{'&'.join(kept)}&continuationToken={quote(str(token), safe='')}"
    link = str(answer.get("@odata.nextLink") or "")
    if link and _origin(link) != _origin(request.url):
        raise ValueError("a page elsewhere")
    return link


def _origin(url: str) -> tuple[str, bytes]:
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError("no URL") from error
    return parts.scheme, parts.netloc
