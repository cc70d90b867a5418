"""The composition root: creates and connects all parts of the bot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from hitl_core.audit import Sealer
from hitl_core.review import Reviews
from hitl_core.store import RedisStore
from hitl_core.tasks import cancel_tasks

from . import click_budget
from .api import AgentApi, Policies, add_api
from .channels.connection import BotParts, Connection
from .channels.policy_places import check_channels
from .channels.registry import Channels
from .health import (
    Health,
    LossWatch,
    Notices,
    PlaceCheck,
    add_metrics,
    log_changes,
    make_probe,
    report_sealing,
)
from .inbox import HomeLoader, Inbox
from .open_channels import open_connections, open_store
from .outbox import (
    LANE_LEASE,
    LATE_WINDOW,
    REQUEUE_INTERVAL,
    TIMERS_INTERVAL,
    Delivery,
    DigestMaker,
    DueTimers,
    HomeRefresher,
    Outbox,
    ReviewCheck,
    Worker,
    Workers,
)
from .people import Directory, load_people
from .settings import BotRole, Settings
from .web import make_app, open_server


@dataclass(frozen=True)
class Bot:
    """A running bot. `url` is the URL of its server. `endpoints`: by channel, the URLs for the chat system's
    requests; Slack's Socket Mode needs none, and with `workers` only there are none. With `http` only there
    are no `workers`. After `leaving` is set, the bot still serves but is not ready.
    """

    url: str
    endpoints: Mapping[str, str]
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


@asynccontextmanager
async def running_bot(
    settings: Settings,
    timing: Timing | None = None,
    only: BotRole | None = None,
    extra: Sequence[Connection] = (),
) -> AsyncGenerator[Bot, None]:
    """Serves until the block ends, then finishes the requests and deliveries in progress. `extra`: more
    channels beside those of the settings. Raises SettingsError or StoreUnavailable with one sentence.
    """
    click_budget.set_click_seconds(settings.hitl_click_seconds)
    policies = Policies.load(settings.hitl_policy)
    leaving = asyncio.Event()
    async with AsyncExitStack() as stack:
        store = await open_store(settings, sets_retention=True)
        stack.push_async_callback(store.close)
        health = Health()
        opened = await stack.enter_async_context(open_connections(settings, store, health))
        connections = [*opened, *extra]
        channels = Channels(*(one.channel for one in connections))
        check_channels(policies, channels)
        parts = _make_parts(store, channels, settings, leaving)
        readiness_checks: list[Callable[[], None]] = []
        workers = None
        if only != "http":
            others = (
                _make_home_refresher(store, connections, parts, health),
                Sealer(store, partial(report_sealing, health)),
                PlaceCheck(Reviews(store), channels, health, (timing or Timing()).pace),
            )
            workers = _make_workers(store, parts, health, settings, timing, *others)
            readiness_checks.append(workers.check)
            await stack.enter_async_context(workers)
        await stack.enter_async_context(Notices(health, store, channels.default.announce))
        ready = make_probe(store, readiness_checks, health)
        watches = [log_changes(ready), LossWatch(Reviews(store), health, store.warnings).run()]
        stack.push_async_callback(cancel_tasks, [asyncio.create_task(each) for each in watches])
        app = make_app(ready, leaving)
        add_metrics(app, store, health)
        paths = dict[str, str]()
        if only != "workers":
            add_api(app, AgentApi(store, policies))
            for one in connections:
                endpoint = await stack.enter_async_context(one.serve(app, parts))
                readiness_checks += endpoint.checks
                if endpoint.path:
                    paths[one.channel.name] = endpoint.path
        server = open_server(app, settings.hitl_host, settings.hitl_port)
        url = await stack.enter_async_context(server)
        endpoints = {name: url + path for name, path in paths.items()}
        yield Bot(url, endpoints, store, health, workers, leaving)


def _make_parts(
    store: RedisStore, channels: Channels, settings: Settings, leaving: asyncio.Event
) -> BotParts:
    reviews = Reviews(store, retry_seconds=1.5)
    directory = Directory(channels, load_people(settings.hitl_people, channels))
    homes = HomeLoader(reviews, channels, directory)
    return BotParts(Inbox(reviews, directory), homes, channels, directory, leaving)


def _make_home_refresher(
    store: RedisStore, connections: Sequence[Connection], parts: BotParts, health: Health
) -> HomeRefresher:
    publishers = {one.channel.name: one.home_publisher(parts) for one in connections}
    known = {name: publish for name, publish in publishers.items() if publish is not None}
    return HomeRefresher(store, known, health)


def _make_workers(
    store: RedisStore,
    parts: BotParts,
    health: Health,
    settings: Settings,
    timing: Timing | None,
    *others: Worker,
) -> Workers:
    timing = timing or Timing()
    reviews = Reviews(store, retry_seconds=5.0)
    delivery = Delivery(reviews, parts.channels, parts.directory, health, timing.pace)
    outbox = Outbox(
        reviews,
        delivery,
        health,
        lane_lease=timing.lane_lease,
        requeue_interval=timing.requeue_interval,
        late_window=timing.late_window,
        gather=DigestMaker(reviews, parts.channels, health, settings.hitl_digest_after).gather,
    )
    timers = DueTimers(Reviews(store, retry_seconds=1.5), health, interval=timing.timers_interval)
    check = ReviewCheck(reviews, delivery, health, timing.pace)
    return Workers(outbox, timers, check, *others)
