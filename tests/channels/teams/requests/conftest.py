"""The endpoint for Teams' requests, with a server of signing keys."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.teams.endpoint import Bot, running
from tests.support.teams.tokens import (
    running_key_server,
)


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    async with running_key_server() as login, running(login) as bot:
        yield bot
