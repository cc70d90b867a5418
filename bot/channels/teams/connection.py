"""Teams' wiring: opens the channel, and connects what people do there to the bot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web

from hitl_core.store import Store
from hitl_core.tasks import cancel_tasks

from ...health import Health
from ...outbox import PublishHome
from ...settings import Settings
from ..connection import BotParts, Endpoint
from .channel import TIMEOUT, TeamsChannel
from .handlers import Activities, TeamsHome
from .ids import NAME
from .transport import PATH, Credentials, Guard, SigningKeys, TeamsEndpoint


@asynccontextmanager
async def open_teams(
    settings: Settings, store: Store, health: Health
) -> AsyncGenerator[TeamsConnection, None]:
    """Raises SettingsError if Microsoft refuses the settings, or can't be reached."""
    guard = Guard(settings.teams_client_id, settings.teams_tenant_id, settings.teams_cloud_url)
    async with open_channel(settings, store, health, timeout=TIMEOUT) as channel:
        await channel.start()
        keys = SigningKeys(channel.http, channel.cloud.keys, health)
        watch = asyncio.create_task(channel.stored_key.run())
        try:
            yield TeamsConnection(channel, guard, keys)
        finally:
            await cancel_tasks([watch])


@asynccontextmanager
async def open_channel(
    settings: Settings, store: Store, health: Health, *, timeout: float
) -> AsyncGenerator[TeamsChannel, None]:
    """The channel before its start, when it can only look up. `timeout` is of one call, in seconds."""
    credentials = Credentials(
        settings.teams_client_id,
        settings.teams_tenant_id,
        settings.teams_client_secret,
        settings.teams_managed_identity,
    )
    channel = TeamsChannel(
        credentials,
        store,
        health,
        settings.default_in(NAME),
        cloud_url=settings.teams_cloud_url,
        timeout=timeout,
    )
    try:
        yield channel
    finally:
        await channel.close()


class TeamsConnection:
    """One tenant, with its requests over HTTP."""

    def __init__(self, channel: TeamsChannel, guard: Guard, keys: SigningKeys) -> None:
        self.channel, self._guard, self._keys = channel, guard, keys

    def home_publisher(self, parts: BotParts) -> PublishHome:
        return TeamsHome(parts.inbox, parts.homes, self.channel).publish

    @asynccontextmanager
    async def serve(self, app: web.Application, parts: BotParts) -> AsyncGenerator[Endpoint, None]:
        lookups = parts.directory.lookups(self.channel.name)
        activities = Activities(parts.inbox, parts.homes, lookups, self.channel)
        TeamsEndpoint(self._guard, self._keys, activities.handle).add_to(app)
        await self._keys.start()
        fetching = asyncio.create_task(self._keys.run())
        try:
            yield Endpoint(PATH)
        finally:
            await cancel_tasks([fetching])
