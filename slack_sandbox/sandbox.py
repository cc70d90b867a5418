"""A running workspace with all its parts, except for the web server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from .activity import Channels, HomeTabs, Installation, UserGroups, Users
from .delivery import AppClient, Events, SocketMode
from .interactions import LIFETIME, Interactions, ResponseUrls, SlashCommands, Triggers
from .web_api import Faults, RateLimits, WebApi
from .workspace import Modals, acme, acme_app, persistence

BOT_TOKEN = "xoxb-sandbox"
SIGNING_SECRET = "sandbox-signing-secret"
ANSWER_TIMEOUT = 3.0  # seconds that Slack waits for an app's answer


class Sandbox:
    """A running workspace. `url` is set when it listens; `bot_url` and `socket_mode.enabled` may be set at
    any time. Changes through `users`, `groups` and `channels` send events to the app. A direct change of
    `workspace` sends none."""

    def __init__(
        self,
        bot_url: str | None = None,
        signing_secret: str = SIGNING_SECRET,
        bot_token: str = BOT_TOKEN,
        *,
        ask_url: str | None = None,
        rate_limits: bool | float = True,
        scopes: Iterable[str] | None = None,
        now: Callable[[], float] = time.time,
        answer_timeout: float = ANSWER_TIMEOUT,
        data: Path | None = None,
    ) -> None:
        self.bot_url, self.ask_url, self.url = bot_url, ask_url, ""
        self.app = acme_app(bot_token, signing_secret, scopes)
        self.workspace = acme(now)
        if data is not None:
            persistence.persist(self.workspace, self.app.user_id, data)
        self.modals = Modals(self.workspace, self.app)
        self.triggers = Triggers(now, max(answer_timeout, LIFETIME))
        self.faults = Faults()
        self.response_urls = ResponseUrls(self.workspace, self.app, lambda: self.url)
        self.socket_mode = SocketMode(self.app, lambda: self.url, now)
        self.app_client = AppClient(
            self.workspace, self.app, self.socket_mode, lambda: self.bot_url, answer_timeout
        )
        self.events = Events(self.workspace, self.app, self.app_client)
        self.users = Users(self.workspace, self.app, self.events)
        self.groups = UserGroups(self.workspace, self.events)
        self.channels = Channels(self.workspace, self.app, self.events)
        self.homes = HomeTabs(self.workspace, self.app, self.events)
        self.installation = Installation(self.app, self.events)
        self.api = self._make_api(RateLimits(now, float(rate_limits)) if rate_limits else None)
        self.interactions = self._make_interactions()
        self.commands = SlashCommands(
            self.workspace, self.app, self.triggers, self.response_urls, self.app_client
        )
        self.streams: set[asyncio.Event] = set()
        self.closing = False

    @property
    def api_url(self) -> str:
        """The bot's `SLACK_API_URL`. Ends with a slash."""
        return f"{self.url}/api/"

    def _make_api(self, rate_limits: RateLimits | None) -> WebApi:
        return WebApi(
            self.workspace,
            self.app,
            self.modals,
            self.homes,
            self.groups,
            self.triggers,
            self.faults,
            self.socket_mode,
            rate_limits,
            lambda: self.url,
        )

    def _make_interactions(self) -> Interactions:
        return Interactions(
            self.workspace,
            self.app,
            self.modals,
            self.homes,
            self.triggers,
            self.response_urls,
            self.app_client,
        )
