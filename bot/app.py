"""The composition root: creates and connects all parts of the bot."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from hitl_core.audit import Sealer
from hitl_core.errors import SettingsError, StoreUnavailable
from hitl_core.gate import cancel_tasks
from hitl_core.review import Reviews
from hitl_core.store import RedisStore

from . import click_budget
from .api import AgentApi, Policies, add_api
from .channels.contract import Channel, ChannelError
from .channels.registry import Channels
from .channels.slack import (
    Events,
    HomeTab,
    Listeners,
    SlackChannel,
    SlackEndpoint,
    open_socket_mode,
)
from .health import Health, Notices, PlaceCheck, add_metrics, log_changes, make_probe
from .inbox import HomeLoader, Inbox
from .open_channels import make_slack
from .outbox import (
    LANE_LEASE,
    LATE_WINDOW,
    REQUEUE_INTERVAL,
    TIMERS_INTERVAL,
    Delivery,
    DueTimers,
    HomeRefresher,
    Outbox,
    PublishHome,
    Worker,
    Workers,
)
from .people import Directory, load_people
from .policy_places import check_channels
from .settings import BotRole, Settings
from .web import make_app, open_server

#: The time limit of one call to Slack, in seconds.
SLACK_TIMEOUT = 4


@dataclass(frozen=True)
class Bot:
    """A running bot. `url` is the URL for Slack's requests; with Socket Mode or `workers` only, the URL of
    its server. With `http` only there are no `workers`. After `leaving` is set it is not ready but still
    serves.
    """

    url: str
    store: RedisStore
    health: Health
    workers: Workers | None
    leaving: asyncio.Event


@dataclass(frozen=True)
class Timing:
    """The time limits of the workers in seconds, and a factor for the channels' rate limits: see `Outbox`,
    `Lane` and `DueTimers`. Only tests change them.
    """

    pace: float = 1.0
    lane_lease: float = LANE_LEASE
    requeue_interval: float = REQUEUE_INTERVAL
    timers_interval: float = TIMERS_INTERVAL
    late_window: float = LATE_WINDOW


class ExtraChannel(Protocol):
    """A channel beside Slack."""

    @property
    def channel(self) -> Channel: ...

    def home_publisher(self, inbox: Inbox, homes: HomeLoader) -> PublishHome | None:
        """Updates the Homes that people opened; None if this channel has no Homes."""
        ...

    def connect(self, inbox: Inbox, channels: Channels, homes: HomeLoader) -> None:
        """After this, what people do there goes to the inbox."""
        ...


@asynccontextmanager
async def running_bot(
    settings: Settings,
    timing: Timing | None = None,
    only: BotRole | None = None,
    extra_channels: Sequence[ExtraChannel] = (),
) -> AsyncGenerator[Bot, None]:
    """Serves until the block ends, then finishes the requests and deliveries in progress. Raises
    SettingsError or StoreUnavailable with one sentence.
    """
    click_budget.set_click_seconds(settings.hitl_click_seconds)
    policies = Policies.load(settings.hitl_policy)
    leaving = asyncio.Event()
    async with AsyncExitStack() as stack:
        store = await _open_store(settings)
        stack.push_async_callback(store.close)
        health = Health()
        channel = await _open_channel(settings, health)
        channels = Channels(channel, *(one.channel for one in extra_channels))
        check_channels(policies, channels)
        directory = Directory(channels, load_people(settings.hitl_people, channels))
        readiness_checks: list[Callable[[], None]] = []
        workers, path = None, ""
        inbox = Inbox(Reviews(store, retry_seconds=1.5), directory)
        homes = HomeLoader(Reviews(store, retry_seconds=1.5), channels, directory)
        home = HomeTab(homes, inbox, channel)
        if only != "http":
            publishers = {x.channel.name: x.home_publisher(inbox, homes) for x in extra_channels}
            refresher = _make_home_refresher(store, {channel.name: home.publish, **publishers})
            others = (refresher, Sealer(store), PlaceCheck(Reviews(store), channels, health))
            workers = _make_workers(store, channels, directory, health, timing, *others)
            readiness_checks.append(workers.check)
            await stack.enter_async_context(workers)
        await stack.enter_async_context(Notices(health, store, channels.default.announce))
        ready = make_probe(store, readiness_checks, health)
        watch = asyncio.create_task(log_changes(ready))
        stack.push_async_callback(cancel_tasks, [watch])
        app = make_app(ready, leaving)
        add_metrics(app, store, health)
        if only != "workers":
            add_api(app, AgentApi(store, policies))
            for connection in extra_channels:
                connection.connect(inbox, channels, homes)
            events = Events(directory.lookups(channel.name), channel)
            handlers = (Listeners(inbox, channel, home), home, events)
            requests = _slack_requests(app, settings, channel, handlers, leaving)
            path, checks = await stack.enter_async_context(requests)
            readiness_checks += checks
        server = open_server(app, settings.hitl_host, settings.hitl_port)
        url = await stack.enter_async_context(server)
        yield Bot(url + path, store, health, workers, leaving)


def _make_home_refresher(
    store: RedisStore, publishers: Mapping[str, PublishHome | None]
) -> HomeRefresher:
    """`publishers` by channel; None for a channel without Homes."""
    return HomeRefresher(
        store, {name: publish for name, publish in publishers.items() if publish is not None}
    )


@asynccontextmanager
async def _slack_requests(
    app: web.Application,
    settings: Settings,
    channel: SlackChannel,
    handlers: Iterable[Listeners | HomeTab | Events],
    leaving: asyncio.Event,
) -> AsyncGenerator[tuple[str, list[Callable[[], None]]], None]:
    """Slack's requests come over HTTP at the path, or over sockets: then the path is "", and there is a check
    that they are open.
    """
    slack = _make_bolt_app(settings, channel)
    for each in handlers:
        each.register(slack)
    if token := settings.slack_app_token:
        sockets = open_socket_mode(slack, token, settings.slack_api_url, leaving)
        async with sockets as clients:
            yield "", [clients.check]
    else:
        path = "/slack/events"
        SlackEndpoint(slack, settings.slack_signing_secret).add_to(app, path)
        yield path, []


async def _open_store(settings: Settings) -> RedisStore:
    """Raises SettingsError or StoreUnavailable; the text names the setting with the URL."""
    try:
        return await RedisStore.open(settings.hitl_redis_url)
    except (SettingsError, StoreUnavailable) as error:
        raise type(error)(f"{error} The URL is from HITL_REDIS_URL.") from None


def _make_workers(
    store: RedisStore,
    channels: Channels,
    directory: Directory,
    health: Health,
    timing: Timing | None,
    *others: Worker,
) -> Workers:
    timing = timing or Timing()
    reviews = Reviews(store, retry_seconds=5.0)
    outbox = Outbox(
        reviews,
        Delivery(reviews, channels, directory, timing.pace, health),
        lane_lease=timing.lane_lease,
        requeue_interval=timing.requeue_interval,
        late_window=timing.late_window,
        health=health,
    )
    timers = DueTimers(Reviews(store, retry_seconds=1.5), interval=timing.timers_interval)
    return Workers(outbox, timers, *others)


async def _open_channel(settings: Settings, health: Health) -> SlackChannel:
    token, url = settings.slack_bot_token, settings.slack_api_url
    channel = make_slack(token, settings.hitl_channel, url, health, timeout=SLACK_TIMEOUT)
    try:
        await channel.start()
    except ChannelError as error:
        raise SettingsError(f"Slack can't be used with these settings: {error}.") from error
    return channel


def _make_bolt_app(settings: Settings, channel: SlackChannel) -> AsyncApp:
    async def authorize() -> AuthorizeResult:
        """There is one workspace, known since the start, so a click needs no call."""
        return AuthorizeResult(
            enterprise_id=None,
            team_id=channel.team,
            bot_user_id=channel.bot_user_id,
            bot_id=channel.bot_id,
            bot_token=settings.slack_bot_token,
        )

    return AsyncApp(
        client=AsyncWebClient(base_url=settings.slack_api_url),
        signing_secret=settings.slack_signing_secret,
        authorize=authorize,
        process_before_response=True,  # the default polls every 10 ms for the ack
        logger=logging.getLogger("slack_bolt"),  # else Bolt's loggers use the root's level
    )
