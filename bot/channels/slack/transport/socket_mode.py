"""Socket Mode: Slack's payloads over WebSockets that the bot opens, for a bot that Slack can't reach over
HTTP.

slack_sdk's own client is not used: it retries permanently with an expired URL, closes a socket before the
next one is connected, may answer over another socket, and stops while its handlers are working.
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

from hitl_core.errors import HitlError, SettingsError, safe_message

from ...contract import ChannelError, RateLimited, Unreachable
from .slack_errors import error_translation
from .socket_connection import SocketConnection, SocketTimeouts

log = logging.getLogger(__name__)

#: The sockets of one bot. Slack allows ten for an app; while one is replaced, the old and the new one both
#: count.
SOCKET_COUNT = 2

_OPEN_METHOD = "apps.connections.open"
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


class SocketModeClient:
    """Keeps SOCKET_COUNT sockets open. Each is replaced before Slack closes it, or as soon as it is lost."""

    def __init__(
        self,
        app: AsyncApp,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        timeouts: SocketTimeouts,
    ) -> None:
        self._app, self._session, self._timeouts = app, session, timeouts
        self._client: Any = client  # the SDK's types are too loose
        self._running: dict[SocketConnection, asyncio.Task[None]] = {}
        self._maintainers: list[asyncio.Task[None]] = []
        self._first_hello: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._last_problem = "Slack has not said hello yet"

    def check(self) -> None:
        """Raises HitlError while no socket is connected."""
        if not any(socket.connected for socket in self._running):
            why = self._last_problem.rstrip(".")
            raise HitlError(f"No socket to Slack is connected, so clicks fail: {why}.")

    async def start(self) -> None:
        """Connects and waits for the first hello, at most `hello_timeout`. Raises SettingsError for a wrong
        token.
        """
        self._maintainers = [
            asyncio.create_task(self._maintain_socket()) for _ in range(SOCKET_COUNT)
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timeouts.hello_timeout):
                await self._first_hello

    async def drain(self) -> None:
        """Opens no more sockets, and closes the open ones when their payloads in progress are answered."""
        for keeper in self._maintainers:
            keeper.cancel()
        await asyncio.gather(*self._maintainers, return_exceptions=True)
        running = dict(self._running)
        await asyncio.gather(*(socket.drain() for socket in running))
        await asyncio.gather(*running.values(), return_exceptions=True)

    async def _maintain_socket(self) -> None:
        """Keeps one socket connected until it is cancelled."""
        tries = 0
        while True:
            began, wait = time.monotonic(), 0.0
            try:
                socket = await self._connect()
                if not self._first_hello.done():
                    self._first_hello.set_result(None)
                await socket.replace_event.wait()
                self._last_problem = socket.close_reason
            except Exception as error:
                if isinstance(error, SettingsError) and self._fail_start(error):
                    return
                self._last_problem = _describe_error(error)
                wait = error.pause() if isinstance(error, RateLimited) else 0.0
            log.warning("a socket to Slack must be replaced: %s", self._last_problem)
            tries = 0 if time.monotonic() - began > self._timeouts.max_retry_delay else tries + 1
            await asyncio.sleep(max(wait, self._backoff(tries)))

    def _fail_start(self, error: SettingsError) -> bool:
        """Whether `start` raises this error. After the start, the client tries again, because the operator
        can fix the problem without a restart.
        """
        if not self._first_hello.done():
            self._first_hello.set_exception(error)
        return not self._first_hello.cancelled() and self._first_hello.exception() is not None

    def _backoff(self, tries: int) -> float:
        """The seconds before the next attempt, with jitter: 0 after a long-lived socket, otherwise doubled
        each time.
        """
        doubled = self._timeouts.first_retry_delay * 2.0 ** min(tries - 1, 16) if tries else 0.0
        return min(doubled, self._timeouts.max_retry_delay) * random.uniform(0.5, 1.0)

    async def _connect(self) -> SocketConnection:
        """A connected socket, after Slack's hello. It runs in its own task until it is lost."""
        async with asyncio.timeout(self._timeouts.hello_timeout):
            ws = await self._session.ws_connect(
                await self._fetch_url(),
                heartbeat=self._timeouts.heartbeat_interval,
                proxy=self._client.proxy,
            )
            socket = SocketConnection(self._app, ws, self._timeouts)
            running = self._running[socket] = asyncio.create_task(socket.run())
            running.add_done_callback(lambda _: self._running.pop(socket))
            try:
                await socket.hello_event.wait()
            except asyncio.CancelledError:
                running.cancel()
                raise
        if socket.connected:
            return socket
        if socket.is_off:
            raise SettingsError(
                "Socket Mode is off for this app. Turn it on at api.slack.com/apps, Socket Mode."
            )
        raise Unreachable(f"there was no hello: {socket.close_reason}")

    async def _fetch_url(self) -> str:
        """A URL for one connection. It expires soon
        (docs.slack.dev/reference/methods/apps.connections.open).
        """
        async with error_translation(_OPEN_METHOD):
            try:
                answer = await self._client.api_call(_OPEN_METHOD)
            except SlackApiError as error:
                response: object = error.response
                error_code = isinstance(response, AsyncSlackResponse) and str(response.get("error"))
                if error_code in _WRONG_TOKEN:
                    raise SettingsError(
                        f"Slack refused SLACK_APP_TOKEN ({error_code}): it must be an app-level token with "
                        "connections:write, from api.slack.com/apps, Basic Information."
                    ) from error
                raise
        return str(answer["url"])


@asynccontextmanager
async def open_socket_mode(
    app: AsyncApp,
    app_token: str,
    api_url: str,
    leaving: asyncio.Event,
    timeouts: SocketTimeouts | None = None,
) -> AsyncGenerator[SocketModeClient, None]:
    """Handles payloads with `app` until `leaving` is set or the block ends. `app` must have
    `process_before_response`. Raises SettingsError if Slack refuses the token. If Slack can't be reached,
    `check` reports it and the client keeps trying.
    """
    timeouts = timeouts or SocketTimeouts()
    client = AsyncWebClient(
        app_token, base_url=api_url, timeout=int(timeouts.hello_timeout) + 1, retry_handlers=[]
    )
    async with aiohttp.ClientSession() as session:
        socket_mode = SocketModeClient(app, client, session, timeouts)
        drain_task = asyncio.create_task(_drain_when_leaving(socket_mode, leaving))
        try:
            await socket_mode.start()
            yield socket_mode
        finally:
            await socket_mode.drain()
            drain_task.cancel()


async def _drain_when_leaving(socket_mode: SocketModeClient, leaving: asyncio.Event) -> None:
    """Drain at once when the bot leaves: sockets have no load balancer that must notice it, because Slack
    uses another socket.
    """
    await leaving.wait()
    await socket_mode.drain()


def _describe_error(error: Exception) -> str:
    """The error's text. aiohttp's texts are not used, because they would quote the URL with its secret
    ticket.
    """
    match error:
        case HitlError() | ChannelError():
            return str(error)
        case TimeoutError():
            return "Slack said no hello in time"
        case aiohttp.ClientError():
            return f"Slack accepted no connection ({type(error).__name__})"
        case _:
            return safe_message(error)
