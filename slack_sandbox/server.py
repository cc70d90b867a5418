"""The sandbox as one web server: Slack's Web API, its response urls and uploads, and the page."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from .delivery.app_client import AppClient
from .delivery.events import Events
from .delivery.interactions import Interactions
from .delivery.response_urls import ResponseUrls
from .delivery.slash_commands import SlashCommands
from .delivery.socket_mode import SocketMode
from .delivery.triggers import LIFETIME, Triggers
from .errors import SlackError
from .page.hosts import require_local_host
from .page.page_api import PageApi
from .web_api.api import WebApi, drop_connection
from .web_api.faults import Faults
from .web_api.rate_limits import RateLimits
from .web_api.uploads import upload_routes
from .workspace import persistence
from .workspace.acme import acme, acme_app
from .workspace.channels import Channels
from .workspace.home import HomeTabs
from .workspace.modals import Modals
from .workspace.usergroups import UserGroups
from .workspace.users import Users

BOT_TOKEN = "xoxb-sandbox"
SIGNING_SECRET = "sandbox-signing-secret"
ANSWER_TIMEOUT = 3.0  # seconds that Slack waits for an app's answer
_MAX_BYTES = 20 * 1024 * 1024


class Sandbox:
    """A running workspace. `url` is known once it listens; `bot_url` may be set at any time, and so may
    `socket_mode.enabled`. `people`, `groups` and `rooms` change what is there while the app looks on:
    it is told by its `events`. A change of `workspace` itself is told to nobody."""

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
        self.api = WebApi(
            self.workspace,
            self.app,
            self.modals,
            self.homes,
            self.groups,
            self.triggers,
            self.faults,
            self.socket_mode,
            RateLimits(now, float(rate_limits)) if rate_limits else None,
            lambda: self.url,
        )
        self.interactions = Interactions(
            self.workspace,
            self.app,
            self.modals,
            self.homes,
            self.triggers,
            self.response_urls,
            self.app_client,
        )
        self.commands = SlashCommands(
            self.workspace, self.app, self.triggers, self.response_urls, self.app_client
        )
        self._page = PageApi(self)
        self.streams: set[asyncio.Event] = set()
        self.closing = False

    @property
    def api_url(self) -> str:
        """What `SLACK_API_URL` is for a bot: ends in a slash."""
        return f"{self.url}/api/"

    def web_app(self) -> web.Application:
        app = web.Application(client_max_size=_MAX_BYTES, middlewares=[require_local_host])
        app.router.add_route("*", "/api/{method}", self.api.handle)
        app.router.add_post("/actions/{team}/{key}", self._respond)
        app.router.add_get(r"/archives/{channel}/p{ts:\d+}", self._permalink)
        app.router.add_get("/link/", self.socket_mode.handle)
        app.add_routes(upload_routes(self.workspace))
        app.add_routes(self._page.routes())
        app.cleanup_ctx.append(self._client_session)
        app.on_shutdown.append(self._end)
        return app

    async def _client_session(self, app: web.Application) -> AsyncIterator[None]:
        async with aiohttp.ClientSession() as session:
            self.app_client.session = session
            yield

    async def _end(self, app: web.Application) -> None:
        self.closing = True
        await self.socket_mode.end()
        await self._page.end()
        await self.events.end()
        self.api.closing.set()
        for stream in self.streams:
            stream.set()

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        """An app's answer to a click: the method `response_url` in troubles and calls."""
        body = json.loads(await request.text())
        self.api.calls.append(
            {"method": "response_url", "at": self.workspace.now(), "args": body, "error": None}
        )
        fault = self.faults.next_fault("response_url")
        if fault and fault.mode != "ok_but_reset":
            return await self.api.fault_response(request, fault)
        try:
            self.response_urls.answer(request.match_info["key"], body)
        except SlackError as error:
            self.api.calls[-1]["error"] = error.error
            is_expired = error.error in ("used_url", "expired_url")
            return web.json_response(error.answer, status=404 if is_expired else 400)
        return drop_connection(request) if fault else web.json_response({"ok": True})

    async def _permalink(self, request: web.Request) -> web.StreamResponse:
        digits = request.match_info["ts"]
        channel = request.match_info["channel"]
        raise web.HTTPFound(f"/#{channel}/{digits[:-6]}.{digits[-6:]}")


@asynccontextmanager
async def running_sandbox(
    bot_url: str | None = None,
    signing_secret: str = SIGNING_SECRET,
    bot_token: str = BOT_TOKEN,
    *,
    ask_url: str | None = None,
    rate_limits: bool | float = False,
    scopes: Iterable[str] | None = None,
    now: Callable[[], float] = time.time,
    answer_timeout: float = ANSWER_TIMEOUT,
    data: Path | None = None,
    port: int = 0,
) -> AsyncGenerator[Sandbox]:
    """A sandbox that listens on 127.0.0.1 while the block runs; port 0 takes a free one. `now` is
    its clock and `patience` how long it waits for the bot, both in seconds; `rate_limits` are Slack's, so
    many times as fast where that is a number; `data` is a file that
    keeps the messages."""
    sandbox = Sandbox(
        bot_url,
        signing_secret,
        bot_token,
        ask_url=ask_url,
        rate_limits=rate_limits,
        scopes=scopes,
        now=now,
        answer_timeout=answer_timeout,
        data=data,
    )
    runner = web.AppRunner(sandbox.web_app(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        host, bound = runner.addresses[0][:2]
        sandbox.url = f"http://{host}:{bound}"
        yield sandbox
    finally:
        await runner.cleanup()
