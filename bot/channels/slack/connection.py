"""Slack's wiring: opens the channel, and connects what people do there to the bot, over HTTP or sockets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from aiohttp import (
    ClientError,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
    TraceConfig,
    web,
)
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_sdk.web.async_client import AsyncWebClient

from hitl_core.errors import SettingsError
from hitl_core.store import Store
from hitl_core.tasks import cancel_tasks

from ...health import Health
from ...outbox import PublishHome
from ...settings import Settings
from ..connection import BotParts, Endpoint
from ..contract import ChannelError
from .channel import SlackChannel
from .handlers import Commands, Events, HomeTab, Listeners
from .transport import MovedConversations, SlackEndpoint, open_socket_mode

#: Where Slack's requests arrive.
PATH = "/slack/events"
#: The time limit of one call to Slack, in seconds.
TIMEOUT = 4


@asynccontextmanager
async def open_slack(
    settings: Settings, store: Store, health: Health
) -> AsyncGenerator[SlackConnection, None]:
    """Raises SettingsError if Slack refuses the settings, or can't be reached, and StoreUnavailable."""
    async with open_session() as session:
        moved = MovedConversations(health, store)
        await moved.load()
        channel = make_channel(settings, health, timeout=TIMEOUT, session=session, moved=moved)
        try:
            await channel.start()
        except ChannelError as error:
            raise SettingsError(f"Slack can't be used with these settings: {error}.") from error
        yield SlackConnection(settings, channel)


def open_session() -> ClientSession:
    """An HTTP session for all calls. Without it, the SDK makes one for each call, with a TLS handshake. It
    follows no redirect: Slack sends none, and another program would get the card.
    """
    no_redirects = TraceConfig()
    no_redirects.on_request_redirect.append(_refuse_redirect)
    return ClientSession(
        trace_configs=[no_redirects],
        connector=TCPConnector(limit=0),  # a call that hangs must not delay others
        cookie_jar=DummyCookieJar(),
        timeout=ClientTimeout(total=TIMEOUT),
    )


async def _refuse_redirect(*_: object) -> None:
    """Raises ClientError."""
    raise ClientError("it was redirected, which Slack never does")


def make_channel(
    settings: Settings,
    health: Health,
    *,
    timeout: int,
    session: ClientSession | None = None,
    moved: MovedConversations | None = None,
) -> SlackChannel:
    """The channel before its start, when it can only look up. `timeout` is of one call, in seconds; a
    `session` brings its own.
    """
    client = AsyncWebClient(
        token=settings.slack_bot_token,
        base_url=settings.slack_api_url,
        timeout=timeout,
        session=session,
        retry_handlers=[],  # after a lost answer a post must be searched for, not repeated
    )
    return SlackChannel(client, settings.default_in("slack"), health, moved)


class SlackConnection:
    """One workspace, with its requests over HTTP or sockets."""

    def __init__(self, settings: Settings, channel: SlackChannel) -> None:
        self._settings, self.channel = settings, channel

    def home_publisher(self, parts: BotParts) -> PublishHome:
        return self._home_tab(parts).publish

    @asynccontextmanager
    async def serve(self, app: web.Application, parts: BotParts) -> AsyncGenerator[Endpoint, None]:
        settings, home = self._settings, self._home_tab(parts)
        slack = _make_bolt_app(settings, self.channel)
        Listeners(parts.inbox, self.channel, home).register(slack)
        home.register(slack)
        Commands(parts.inbox, parts.homes, self.channel).register(slack)
        events = Events(parts.directory.lookups(self.channel.name), self.channel)
        events.register(slack)
        async with AsyncExitStack() as stack:
            watches = [
                asyncio.create_task(events.watch_token()),
                asyncio.create_task(self.channel.moved.watch()),
            ]
            stack.push_async_callback(cancel_tasks, watches)
            if token := settings.slack_app_token:
                sockets = open_socket_mode(slack, token, settings.slack_api_url, parts.leaving)
                clients = await stack.enter_async_context(sockets)
                yield Endpoint(checks=[clients.check])
            else:
                SlackEndpoint(slack, settings.slack_signing_secret).add_to(app, PATH)
                yield Endpoint(PATH)

    def _home_tab(self, parts: BotParts) -> HomeTab:
        return HomeTab(parts.homes, parts.inbox, self.channel)


def _make_bolt_app(settings: Settings, channel: SlackChannel) -> AsyncApp:
    workspace = AuthorizeResult(
        enterprise_id=None,
        team_id=channel.team,
        bot_user_id=channel.bot_user_id,
        bot_id=channel.bot_id,
        bot_token=settings.slack_bot_token,
    )
    return AsyncApp(
        client=AsyncWebClient(base_url=settings.slack_api_url),
        request_verification_enabled=False,  # `SlackEndpoint` checks requests, sockets need no signature
        authorize=_OneWorkspace(workspace),
        attaching_function_token_enabled=False,  # there are no functions
        process_before_response=True,  # the default polls every 10 ms for the ack
        logger=logging.getLogger("slack_bolt"),  # otherwise Bolt's loggers use the root's level
    )


class _OneWorkspace(AsyncAuthorize):
    """The workspace, known since the start, so that a click needs no call."""

    def __init__(self, workspace: AuthorizeResult) -> None:
        self._workspace = workspace

    async def __call__(self, **_: Any) -> AuthorizeResult:
        return self._workspace
