"""Opens the channels that the settings have: for the bot, and for the check of a policy.

A chat system's packages come with its extra, so its channel is imported only if the settings have it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from hitl_core.errors import SettingsError, StoreUnavailable, StoreUnwritable
from hitl_core.store import RedisStore, Store

from .channels.connection import Connection
from .channels.contract import Channel
from .channels.registry import Channels
from .health import Health
from .settings import Settings

log = logging.getLogger(__name__)

#: The time limit of one call to a chat system in the check of a policy, in seconds.
CHECK_TIMEOUT = 10
#: The name under which each channel's workspace or tenant is stored.
WORKSPACE = "workspace"


@asynccontextmanager
async def open_connections(
    settings: Settings, store: Store, health: Health
) -> AsyncGenerator[list[Connection], None]:
    """All channels; the one with the bot's own place comes first. Raises SettingsError if a chat system
    refuses its settings, or if the store belongs to another workspace.
    """
    connections = list[Connection]()
    async with AsyncExitStack() as stack:
        if settings.has_slack:
            from .channels.slack import open_slack

            slack = open_slack(settings, store, health)
            connections.append(await stack.enter_async_context(slack))
        if settings.has_teams:
            from .channels.teams import open_teams

            teams = open_teams(settings, store, health)
            connections.append(await stack.enter_async_context(teams))
        for one in connections:
            await _check_workspace(store, one.channel)
        yield sorted(connections, key=lambda one: not settings.default_in(one.channel.name))


@asynccontextmanager
async def open_channels_to_check(settings: Settings) -> AsyncGenerator[Channels, None]:
    """All channels before their start, when they can only look up. The Teams channel needs the store, which
    knows where the app is installed. Raises SettingsError or StoreUnavailable.
    """
    health, channels = Health(quiet=True), list[Channel]()
    async with AsyncExitStack() as stack:
        if settings.has_slack:
            from .channels.slack import make_channel

            channels.append(make_channel(settings, health, timeout=CHECK_TIMEOUT))
        if settings.has_teams:
            from .channels.teams import open_channel

            store = await open_store(settings)
            stack.push_async_callback(store.close)
            teams = open_channel(settings, store, health, timeout=CHECK_TIMEOUT)
            channels.append(await stack.enter_async_context(teams))
        yield Channels(*sorted(channels, key=lambda one: not settings.default_in(one.name)))


async def _check_workspace(store: Store, channel: Channel) -> None:
    """Each Redis belongs to one workspace or tenant of each chat system: the first with which a bot
    connected. Raises SettingsError for another one. Its bot would take the others' reviews: it would show
    them to its own people, and let others decide, because there nobody exists who may. A Redis without one
    that takes no writes now gets it at the next start of a bot.
    """
    try:
        known = await store.add_channel_value(channel.name, WORKSPACE, channel.team.encode())
    except StoreUnwritable as error:
        log.warning("the workspace of this Redis can't be stored: %s", error)
        return
    if known != channel.team.encode():
        raise SettingsError(
            f"This Redis belongs to {known.decode(errors='replace')} in {channel.label}, and this bot to"
            f" {channel.team}. Give each its own Redis, or its own database (the number at the end of"
            f" HITL_REDIS_URL), also after a demo. If all bots move, send Redis:"
            f" HDEL hitl:channel:{channel.name} {WORKSPACE}"
        )


async def open_store(settings: Settings, *, sets_retention: bool = False) -> RedisStore:
    """Open the store. `sets_retention`: the settings decide for all processes how long reviews are kept; a
    bot wants that. Raises SettingsError or StoreUnavailable; the text names the setting with the URL.
    """
    retention = settings.hitl_retention_days * 24 * 3600.0 if sets_retention else None
    if settings.has_plaintext_redis:
        log.warning(
            "HITL_REDIS_URL is not encrypted: anybody between this machine and Redis can read and"
            " change what people decide. Use rediss:// unless the network is your own."
        )
    try:
        return await RedisStore.open(
            settings.hitl_redis_url,
            retention=retention,
            wait_replicas=settings.hitl_redis_wait_replicas,
        )
    except (SettingsError, StoreUnavailable) as error:
        source = "The URL is from HITL_REDIS_URL."
        if settings.hitl_redis_url == Settings.hitl_redis_url:
            source = "This is the default URL: set another one in HITL_REDIS_URL."
        raise type(error)(f"{error} {source}") from None
