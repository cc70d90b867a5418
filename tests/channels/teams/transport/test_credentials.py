"""The bot's own tokens, and what ends its start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.channels.contract import (
    Unreachable,
)
from bot.channels.teams import Credentials, TeamsChannel
from bot.channels.teams.transport import sdk
from bot.health import Health
from hitl_core.errors import SettingsError
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import ids
from tests.channels.teams.transport.calls import (
    CARD,
    ROOM,
    error,
)
from tests.support.teams.local import credentials, make_channel


async def test_a_refused_token_is_replaced(sandbox: Sandbox, channel: TeamsChannel):
    """Given a token that Teams refuses once, then the next call takes another one."""
    tokens = dict(sandbox.login.tokens)
    sandbox.faults.add("answer", "post", times=1, status=401, body=error("Unauthorized"))
    with pytest.raises(Unreachable):
        await channel.post(ROOM, CARD)
    await channel.post(ROOM, CARD)
    taken = {scope: n - tokens.get(scope, 0) for scope, n in sandbox.login.tokens.items()}
    assert taken == {"https://api.botframework.com": 1}


async def test_one_token_is_taken_for_all_calls(sandbox: Sandbox, channel: TeamsChannel):
    await asyncio.gather(*(channel.person(ids.ALICE) for _ in range(10)))
    assert sandbox.login.tokens["https://graph.microsoft.com"] == 1


async def test_a_wrong_secret_ends_the_start_and_is_not_shown(sandbox: Sandbox, store: MemoryStore):
    channel = TeamsChannel(
        credentials(sandbox, "wr0ng-secret"), store, Health(), cloud_url=sandbox.url
    )
    with pytest.raises(SettingsError, match="TEAMS_CLIENT_SECRET") as raised:
        await channel.start()
    assert "wr0ng" not in str(raised.value)
    await channel.close()


@pytest.mark.parametrize("identity", ["system", "CL1ENT", "another"])
async def test_a_managed_identity_that_is_not_there_is_unreachable(
    sandbox: Sandbox, store: MemoryStore, monkeypatch: pytest.MonkeyPatch, identity: str
):
    """Given a machine without a managed identity; then the start says that there is no token."""

    def refuse(*given: Any) -> Callable[[str], Any]:
        async def fetch(scope: str) -> str:
            raise OSError(f"no identity for {scope}")

        return fetch

    real = sdk.managed_identity("cl1ent", sandbox.workspace.tenant_id, identity)
    assert callable(real)  # the SDK takes these credentials
    monkeypatch.setattr("bot.channels.teams.transport.tokens.managed_identity", refuse)
    given = Credentials("cl1ent", sandbox.workspace.tenant_id, managed_identity=identity)
    channel = TeamsChannel(given, store, Health(), cloud_url=sandbox.url)
    with pytest.raises(SettingsError, match="managed identity"):
        await channel.start()
    await channel.close()


async def test_a_default_without_the_app_is_a_warning(
    sandbox: Sandbox, store: MemoryStore, caplog: pytest.LogCaptureFixture
):
    """The bot learns where the app was added only while it runs."""
    channel = make_channel(sandbox, store, ids.NO_BOT)
    await channel.start()
    assert "the app is not installed there" in caplog.text
    await channel.close()


async def test_a_default_that_cannot_be_looked_up_ends_the_start(
    sandbox: Sandbox, store: MemoryStore
):
    sandbox.faults.add("down", "pagedmembers")
    channel = make_channel(sandbox, store, ids.APPROVALS)
    with pytest.raises(SettingsError, match="HITL_CHANNEL is teams:"):
        await channel.start()
    await channel.close()
