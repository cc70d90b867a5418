"""Teams' requests over HTTP: checks the token, then the body, then passes the activity on.

learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from hitl_core.failpoints import failpoint

from ..... import click_budget
from .....logs import ThrottledLog, trace_of
from .....offload import offload_click_parsing
from .....web import LEAVING, BodyError, mark_authenticated, read_body
from .activity import Activity, InvalidActivity, parse_activity
from .guard import Forbidden, Guard
from .signing_keys import KeysUnavailable, SigningKeys
from .token_check import MAX_TOKEN, TokenCheck

log = logging.getLogger(__name__)

#: The largest body, in bytes. Teams' activities are far smaller, but people may enter 256 KiB, with escapes.
MAX_BODY = 1024 * 1024
#: The path that the bot's registration names (Azure Bot, "Messaging endpoint").
PATH = "/api/messages"

_STATUS = {"too_large": 413, "too_slow": 408, "broken": 400}
_BEARER = re.compile(r"(?i:bearer) +([\w-]+\.[\w-]+\.[\w-]+)", re.ASCII)


@dataclass(frozen=True)
class Answer:
    """The answer to an activity. Teams reads `body` only in the answer to an invoke. `on_sent` runs after the
    answer was sent. `is_slow`: `on_sent` may take longer than a click.
    """

    body: dict[str, Any] | None = None
    status: int = 200
    on_sent: Callable[[], Awaitable[None]] | None = None
    is_slow: bool = False


Handle = Callable[[Activity], Awaitable[Answer]]


class TeamsEndpoint:
    """If a request has no valid token, its body is not read. Such requests are counted in the log, never
    quoted: anybody may send them.
    """

    def __init__(self, guard: Guard, keys: SigningKeys, handle: Handle) -> None:
        self._guard, self._tokens, self._handle = guard, TokenCheck(guard, keys), handle
        self._strange = ThrottledLog(
            log,
            "%d requests without a valid token of Teams were refused (401); the newest: %s. If Teams sent"
            " them, TEAMS_CLIENT_ID is not this bot's, or this machine's clock is wrong",
        )
        self._forbidden = ThrottledLog(
            log, "%d requests with a valid token were refused (403); the newest: %s"
        )
        self._broken = ThrottledLog(log, "%d requests did not arrive whole; the newest: %s")

    def add_to(self, app: web.Application, path: str = PATH) -> None:
        app.router.add_post(path, self.handle)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            claims = await self._tokens.check(_token(request))
        except Forbidden as why:
            self._strange.warn(why)
            return web.Response(status=401)
        except KeysUnavailable:  # reported by SigningKeys
            return web.Response(status=503)
        mark_authenticated(request)
        click_budget.start()
        try:
            body = await read_body(request, MAX_BODY)
            activity = await offload_click_parsing(body, parse_activity)
            if activity.is_for_others:
                return web.Response()
            self._guard.check_activity(activity, claims)
        except BodyError as error:
            self._broken.warn(error.code)
            return web.Response(status=_STATUS[error.code])
        except InvalidActivity as wrong:
            log.error("an activity of Teams was refused (400): %s", wrong)
            return web.Response(status=400)
        except Forbidden as why:
            self._forbidden.warn(why)
            return web.Response(status=403)
        return await self._send(request, await self._answer(activity))

    async def _answer(self, activity: Activity) -> Answer:
        try:
            return await self._handle(activity)
        except Exception as error:
            log.error("an activity of Teams could not be handled: %s", trace_of(error))
            return Answer(status=500)

    async def _send(self, request: web.Request, answer: Answer) -> web.Response:
        response = web.Response(status=answer.status)
        if answer.body is not None:
            response = web.json_response(answer.body, status=answer.status)
        # No other request on this connection should wait for slow work.
        if answer.is_slow or request.app[LEAVING].is_set():
            response.force_close()
        try:
            await response.prepare(request)
            await response.write_eof()
        except ConnectionResetError:  # the decision is stored; the person may press again
            log.warning("an answer was too late: Teams closed the connection")
        else:
            await self._run_after(answer)
        await failpoint("bot.after_ack")
        return response

    async def _run_after(self, answer: Answer) -> None:
        """Run `on_sent`. Never raises: if the person presses again, it is done again."""
        if answer.on_sent is None:
            return
        # Its own time, also after a click that took all of the click's.
        seconds = None if answer.is_slow else click_budget.seconds("record")
        try:
            async with asyncio.timeout(seconds):
                await answer.on_sent()
        except Exception as error:
            log.warning("what follows an answer to Teams failed: %s", trace_of(error))


def _token(request: web.Request) -> str:
    """The token, checked before the body is read. Raises Forbidden."""
    headers = request.headers.getall("Authorization", ())
    if len(headers) != 1:
        raise Forbidden("no token" if not headers else "several Authorization headers")
    if len(headers[0]) > MAX_TOKEN:
        raise Forbidden("the token is too long")
    if (match := _BEARER.fullmatch(headers[0])) is None:
        raise Forbidden("no bearer token")
    return match[1]
