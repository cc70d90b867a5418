"""Socket Mode: Slack's payloads over sockets that the bot opens, for a bot that no request can reach.

slack_sdk's own client is not used. It tries for ever with an address that is spent, closes a socket before
the next one stands, may answer over another socket than it was asked by, and ends amid its handlers' work.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.channel import ChannelError, Limited, Unreachable
from bot.channels.slack.api import translated
from bot.channels.slack.socket import Pace, Socket
from hitl_core.errors import HitlError, SettingsError, told

log = logging.getLogger(__name__)

#: Slack allows an app ten, of all its bots together, and a socket and its successor are two for a moment.
SOCKETS = 2

_OPEN = "apps.connections.open"
_WRONG_TOKEN = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "missing_scope",
        "not_allowed_token_type",
        "not_authed",
        "token_expired",
        "token_revoked",
    }
)


class Sockets:
    """Each is replaced before Slack ends it, or as soon as it is lost."""

    def __init__(
        self, app: AsyncApp, client: AsyncWebClient, session: aiohttp.ClientSession, pace: Pace
    ) -> None:
        self._app, self._session, self._pace = app, session, pace
        self._client: Any = client  # its answers are typed as anything or nothing
        self._running: dict[Socket, asyncio.Task[None]] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._first: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._why = "Slack has not said hello yet"

    def check(self) -> None:
        """Raises HitlError while no socket is connected."""
        if not any(socket.connected for socket in self._running):
            why = self._why.rstrip(".")
            raise HitlError(f"No socket to Slack is connected, so clicks fail: {why}.")

    async def start(self) -> None:
        """Until the first hello, or for as long as one may take. Raises SettingsError for a wrong token."""
        self._keepers = [asyncio.create_task(self._keep()) for _ in range(SOCKETS)]
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pace.greeting):
                await self._first

    async def drain(self) -> None:
        """Opens no more sockets, and closes those that stand, each when what it had begun is answered."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        running = dict(self._running)
        await asyncio.gather(*(socket.finish() for socket in running))
        await asyncio.gather(*running.values(), return_exceptions=True)

    async def _keep(self) -> None:
        """Keeps one socket connected, for ever."""
        tries = 0
        while True:
            began, wait = time.monotonic(), 0.0
            try:
                socket = await self._connect()
                if not self._first.done():
                    self._first.set_result(None)
                await socket.leaving.wait()
                self._why = socket.why
            except Exception as error:
                if isinstance(error, SettingsError) and self._ends_start(error):
                    return
                self._why = _words(error)
                wait = error.seconds if isinstance(error, Limited) else 0.0
            log.warning("another socket to Slack is needed: %s", self._why)
            tries = 0 if time.monotonic() - began > self._pace.longest else tries + 1
            await asyncio.sleep(max(wait, self._backoff(tries)))

    def _ends_start(self, error: SettingsError) -> bool:
        """Whether `start` raises this: later, an operator who mends it needs no restart."""
        if not self._first.done():
            self._first.set_exception(error)
        return not self._first.cancelled() and self._first.exception() is not None

    def _backoff(self, tries: int) -> float:
        """At once after a socket that stood for long; never in step with the others."""
        doubled = self._pace.again * 2.0 ** min(tries - 1, 16) if tries else 0.0
        return min(doubled, self._pace.longest) * random.uniform(0.5, 1.0)

    async def _connect(self) -> Socket:
        """A socket that Slack has greeted. It goes on by itself until it is lost."""
        async with asyncio.timeout(self._pace.greeting):
            ws = await self._session.ws_connect(
                await self._address(), heartbeat=self._pace.heartbeat, proxy=self._client.proxy
            )
            socket = Socket(self._app, ws, self._pace)
            running = self._running[socket] = asyncio.create_task(socket.run())
            running.add_done_callback(lambda _: self._running.pop(socket))
            try:
                await socket.heard.wait()
            except asyncio.CancelledError:
                running.cancel()
                raise
        if socket.connected:
            return socket
        if socket.why == "Slack said link_disabled":
            raise SettingsError(
                "Socket Mode is off for this app: turn it on at api.slack.com/apps, Socket Mode."
            )
        raise Unreachable(f"there was no hello: {socket.why}")

    async def _address(self) -> str:
        """Good for one connection, soon. https://docs.slack.dev/reference/methods/apps.connections.open"""
        async with translated(_OPEN):
            try:
                answer = await self._client.api_call(_OPEN)
            except SlackApiError as error:
                response: object = error.response
                refused = isinstance(response, AsyncSlackResponse) and str(response.get("error"))
                if refused in _WRONG_TOKEN:
                    raise SettingsError(
                        f"Slack refuses SLACK_APP_TOKEN ({refused}): it must be an app-level token with "
                        "connections:write, from api.slack.com/apps, Basic Information."
                    ) from error
                raise
        return str(answer["url"])


@asynccontextmanager
async def sockets(
    app: AsyncApp, app_token: str, api_url: str, leaving: asyncio.Event, pace: Pace | None = None
) -> AsyncGenerator[Sockets, None]:
    """`app`, which must process before it responds, handles what comes until the bot is `leaving` or the
    block ends. Raises SettingsError where Slack refuses the token; where Slack is away, `check` says so and
    it goes on trying."""
    pace = pace or Pace()
    client = AsyncWebClient(
        app_token, base_url=api_url, timeout=int(pace.greeting) + 1, retry_handlers=[]
    )
    async with aiohttp.ClientSession() as session:
        several = Sockets(app, client, session, pace)
        parting = asyncio.create_task(_part(several, leaving))
        try:
            await several.start()
            yield several
        finally:
            await several.drain()
            parting.cancel()


async def _part(several: Sockets, leaving: asyncio.Event) -> None:
    """No load balancer stands before a socket: Slack takes another one at once."""
    await leaving.wait()
    await several.drain()


def _words(error: Exception) -> str:
    """Not those of aiohttp: they would quote the address and its ticket."""
    match error:
        case HitlError() | ChannelError():
            return str(error)
        case TimeoutError():
            return "Slack said no hello in time"
        case aiohttp.ClientError():
            return f"Slack took no connection ({type(error).__name__})"
        case _:
            return told(error)
