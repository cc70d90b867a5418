"""A server with a small application, and one with short time limits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.web import connections, requests
from bot.web.server import open_server
from tests.bot.server.wire import SHORT, Release, Serve, application


@pytest.fixture
def release() -> Release:
    return Release()


@pytest.fixture
def serve(release: Release) -> Serve:
    @asynccontextmanager
    async def start(most: int | None = None) -> AsyncIterator[str]:
        async with open_server(application(release), "127.0.0.1", 0, most) as url:
            yield url

    return start


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server with short time limits."""
    monkeypatch.setattr(connections, "HEAD_TIMEOUT", SHORT)
    monkeypatch.setattr(connections, "WATCH_INTERVAL", SHORT / 5)
    monkeypatch.setattr(requests, "BODY_TIMEOUT", SHORT)
