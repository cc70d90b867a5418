"""The composition root: everything that the bot is made of is put together here, and only here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from bot.channel import ChannelError
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.listeners import Listeners
from bot.directory import Directory
from bot.escalator import EVERY, Escalator
from bot.inbox import Inbox
from bot.log import told
from bot.outbox import IDLE, PACE, REVIVE, Outbox
from bot.settings import Settings
from bot.web import Probe, make_web
from hitl_core.errors import HitlError, SettingsError
from hitl_core.policy import Policy
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore

log = logging.getLogger(__name__)

#: One call to Slack. A click has 3 s in all.
SLACK_TIMEOUT = 4


@dataclass(frozen=True)
class Bot:
    """A running bot. `url` is where Slack sends its requests."""

    url: str
    store: RedisStore
    outbox: Outbox
    escalator: Escalator


@dataclass(frozen=True)
class Timing:
    """How long the workers wait, in seconds: see `Outbox` and `Escalator`. Only tests need others."""

    pace: float = PACE
    idle: float = IDLE
    revive: float = REVIVE
    every: float = EVERY


@asynccontextmanager
async def running_bot(
    settings: Settings, timing: Timing | None = None
) -> AsyncGenerator[Bot, None]:
    """Raises SettingsError or StoreUnavailable in one sentence; else serves until the block ends."""
    timing = timing or Timing()
    if settings.hitl_policy:
        Policy.load(settings.hitl_policy)
    store = await RedisStore.open(settings.hitl_redis_url)
    try:
        client = AsyncWebClient(
            token=settings.slack_bot_token,
            base_url=settings.slack_api_url,
            timeout=SLACK_TIMEOUT,
            retry_handlers=[],  # a post whose answer was lost must be looked for, not repeated
        )
        channel = SlackChannel(client, settings.hitl_channel)
        await _start(channel)
        reviews = Reviews(store, patience=1.5)
        inbox = Inbox(reviews, Directory(channel, channel.team))
        slack = _bolt(settings, channel)
        Listeners(inbox, channel).register(slack)
        outbox = Outbox(
            Reviews(store, patience=5.0),
            channel,
            pace=timing.pace,
            idle=timing.idle,
            revive=timing.revive,
        )
        escalator = Escalator(reviews, every=timing.every)
        signing = SignatureVerifier(settings.slack_signing_secret)
        async with (
            _working(outbox.run(), escalator.run()) as workers,
            _serving(make_web(slack, signing, _probe(store, workers)), settings) as url,
        ):
            yield Bot(url, store, outbox, escalator)
    finally:
        await store.close()


@asynccontextmanager
async def _working(
    *work: Coroutine[Any, Any, None],
) -> AsyncGenerator[Sequence[asyncio.Task[None]], None]:
    """While the block runs. One that stops by itself ends nothing: `_probe` tells it."""
    workers = [asyncio.create_task(each) for each in work]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.cancel()
        for outcome in await asyncio.gather(*workers, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("a worker had stopped: %s", told(outcome))


def _probe(store: RedisStore, workers: Sequence[asyncio.Task[None]]) -> Probe:
    async def ready() -> dict[str, object]:
        await store.now()
        if any(worker.done() for worker in workers):
            raise HitlError("A worker of the bot has stopped. Restart the bot; its log says why.")
        return {"undelivered": await store.buried()}

    return ready


async def _start(channel: SlackChannel) -> None:
    try:
        await channel.start()
    except ChannelError as error:
        raise SettingsError(f"Slack can't be used with these settings: {error}.") from error


def _bolt(settings: Settings, channel: SlackChannel) -> AsyncApp:
    async def authorize() -> AuthorizeResult:
        """One workspace, known since the start: no call for each click."""
        return AuthorizeResult(
            enterprise_id=None,
            team_id=channel.team,
            bot_user_id=channel.user,
            bot_id=channel.bot_id,
            bot_token=settings.slack_bot_token,
        )

    return AsyncApp(
        client=AsyncWebClient(base_url=settings.slack_api_url),
        signing_secret=settings.slack_signing_secret,
        authorize=authorize,
        process_before_response=True,  # the default polls for the ack every 10 ms
        logger=logging.getLogger("slack_bolt"),  # else Bolt's loggers take the level of the root
    )


@asynccontextmanager
async def _serving(app: web.Application, settings: Settings) -> AsyncGenerator[str, None]:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=5.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, settings.hitl_host, settings.hitl_port).start()
        except OSError as error:
            where = f"{settings.hitl_host}:{settings.hitl_port}"
            why = error.strerror or error
            raise SettingsError(f"HITL_HOST, HITL_PORT: can't listen on {where}: {why}.") from error
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}/slack/events"
    finally:
        await runner.cleanup()
