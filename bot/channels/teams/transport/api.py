"""Calls the Connector and Graph. Their errors become ChannelErrors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import httpx

from hitl_core.model import is_guid

from ....health import Health
from ...answers import READ_ERRORS, Data, NoAnswer, read_list
from ...contract import (
    LookupFailed,
    NotFound,
    NotSent,
    RateLimited,
    Undeliverable,
    Unreachable,
    repeat_while_limited,
)
from .cloud import CONNECTOR_SCOPE, GRAPH_SCOPE, Cloud
from .errors import check_status, error_translation, read_data
from .tokens import Tokens

#: The most pages of a list; a longer list makes the look-up fail.
MAX_PAGES = 100

V = TypeVar("V")


@dataclass(frozen=True)
class Request:
    """`name`: for people. `needed`: the permission that Graph requires. `about`: names the thing, if the
    look-up can fail for one thing and work for others.
    """

    name: str
    verb: Literal["GET", "POST", "PUT", "DELETE"]
    url: str
    scope: str
    body: Data | None = None
    needed: str = ""
    about: str = ""


class Api:
    """Every method raises RateLimited, Unreachable or Undeliverable; look-ups also raise LookupFailed.

    A failed look-up is reported to `Health` as a problem of kind `lookup` until it works again. `timeout` is
    the time limit of one call, in seconds.
    """

    def __init__(
        self, http: httpx.AsyncClient, tokens: Tokens, cloud: Cloud, health: Health, timeout: float
    ) -> None:
        self._http, self._tokens, self._cloud = http, tokens, cloud
        self.health, self._timeout = health, timeout

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

    async def look_up(
        self,
        request: Request,
        read: Callable[[Data], V],
        absent_errors: Mapping[str, str] | None = None,
    ) -> V:
        """What `read` makes of the answer; `read` raises if something is missing. An answer with more pages
        is an error here: use `look_up_all`. Only `absent_errors` (codes) mean that the thing does not exist:
        they raise NotFound with their text.
        """

        def read_whole(answer: Data) -> V:
            if _next_page(request, answer):
                raise ValueError("only a part")
            return read(answer)

        value = await self._look_up(request, read_whole, absent_errors or {})
        self._resolve_problem(request)
        return value

    async def look_up_all(
        self,
        request: Request,
        key: str,
        read: Callable[[Any], V],
        *,
        absent_errors: Mapping[str, str] | None = None,
        waits_for_limit: bool = False,
        is_enough: Callable[[list[V]], bool] = lambda page: False,
        is_never_empty: bool = False,
    ) -> list[V]:
        """Like `look_up`, for a list with pages: `read` is called for each item of `key`. `waits_for_limit`:
        when the rate is limited, it waits and continues with the same page. It stops after a page for which
        `is_enough` is true. `is_never_empty`: an empty list is no answer. Raises LookupFailed for an endless
        list.
        """

        def read_page(answer: Data) -> tuple[list[V], str]:
            return [*map(read, read_list(answer, key))], _next_page(request, answer)

        results: list[V] = []
        page = request
        for _ in range(MAX_PAGES):
            call = partial(self._look_up, page, read_page, absent_errors or {})
            items, url = await (repeat_while_limited(call) if waits_for_limit else call())
            results += items
            if not url or is_enough(items):
                if is_never_empty and not results:
                    raise self._lookup_failure(request, "an empty list")
                self._resolve_problem(request)
                return results
            page = replace(request, url=url)
        raise self._lookup_failure(request, f"more than {MAX_PAGES} pages")

    async def _look_up(
        self, request: Request, read: Callable[[Data], V], absent_errors: Mapping[str, str]
    ) -> V:
        """Look up one page. Its success resolves no problem: a later page may still fail each time."""
        try:
            return read(await self.call(request))
        except (RateLimited, Unreachable) as error:
            if isinstance(error.__cause__, ValueError):  # its body is no JSON: it is no outage
                raise self._lookup_failure(request, "an answer that can't be read") from error
            self.health.report("lookup", request.name, _problem_text(str(error)))
            raise
        except Undeliverable as error:
            if text := absent_errors.get(error.error):
                self._resolve_problem(request)
                raise NotFound(text, error=error.error) from error
            raise self._lookup_failure(request, error.error) from error
        except NoAnswer as error:
            raise self._lookup_failure(request, str(error)) from error
        except READ_ERRORS as error:
            raise self._lookup_failure(request, "an answer that can't be read") from error

    def _lookup_failure(self, request: Request, error: str) -> LookupFailed:
        """The error to raise; it is also reported to Health."""
        is_denied = bool(request.needed) and error in _DENIED
        whom = f" for {request.about}" if request.about and not is_denied else ""
        needed = request.needed if is_denied else ""
        hint = f"; an administrator must grant the app {needed}: see docs/teams.md" * bool(needed)
        text = f"{request.name} failed{whom}: {error}{hint}"
        self.health.report("lookup", f"{request.name}{whom}", _problem_text(text))
        return LookupFailed(text, method=request.name, error=error, needed=needed)

    def _resolve_problem(self, request: Request) -> None:
        self.health.resolve("lookup", request.name)
        self.health.resolve("lookup", f"{request.name} for {request.about}")


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


def _problem_text(text: str) -> str:
    return f"{text}. Until it works, decisions that need this look-up are refused, and their reviews wait."
