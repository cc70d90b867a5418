"""The HTTP API on a server of its own, with a real Redis and without a bot."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from bot.api.agent_api import AgentApi
from bot.api.policies import Policies
from bot.api.routes import add_api
from bot.web.server import open_server as http_server
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore, Store
from tests.api.client import Client, issue
from tests.support.builders import policy

Open = Callable[..., Awaitable[Client]]
SECRET = "canary-5f1d"


@asynccontextmanager
async def serving(store: Store, policies: Policies, most: int | None = None) -> AsyncIterator[str]:
    """The address of a server with the HTTP API, and so many connections."""
    app = web.Application()
    add_api(app, AgentApi(store, policies))
    async with http_server(app, "127.0.0.1", 0, most) as url:
        yield url


@pytest.fixture
def reviews(store: RedisStore) -> Reviews:
    """What people do."""
    return Reviews(store)


@pytest.fixture
async def open_api(redis_url: str, store: RedisStore) -> AsyncIterator[Open]:
    """`await open_api(agent=…, policies=…, url=…)`: a server of its own each time, and a client with a
    token."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())

        async def make(
            agent: str = "billing",
            policies: Policies | None = None,
            url: str = redis_url,
            most: int | None = None,
        ) -> Client:
            mine = await RedisStore.open(url)
            stack.push_async_callback(mine.close)
            policies = policies or Policies(policy())
            address = await stack.enter_async_context(serving(mine, policies, most))
            _, text = await issue(store, agent)
            return Client(session, address, text)

        yield make


@pytest.fixture
async def client(open_api: Open) -> Client:
    return await open_api()


@pytest.fixture
def other(client: Client, store: RedisStore) -> Callable[..., Awaitable[Client]]:
    """`await other(agent=…)`: a client of the same server with another token."""

    async def make(agent: str = "billing") -> Client:
        text = (await issue(store, agent))[1]
        return Client(client.session, client.url, text)

    return make


@pytest.fixture
async def nothing_stored(
    store: RedisStore, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[None]:
    """In none of these tests is a review made, or an argument or a token logged."""
    caplog.set_level(logging.DEBUG)
    yield
    assert await store.live_ids() == []
    assert SECRET not in caplog.text
    assert "hitl_" not in caplog.text.replace("hitl_core", "")
    assert "Traceback" not in caplog.text
