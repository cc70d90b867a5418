"""The local Slack accepts requests only for this machine's own names, as a protection against
DNS rebinding.
"""

from __future__ import annotations

import aiohttp
import pytest

from slack_sandbox.sandbox import Sandbox

PATHS = [
    "/",
    "/page.js",
    "/sandbox/state?user=U0ALICE",
    "/sandbox/stream",
    "/api/auth.test",
    "/link/",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:3001"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost@evil.example"},
        {"Host": "[::1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
async def test_another_name_is_refused(
    sandbox: Sandbox, path: str, headers: dict[str, str]
) -> None:
    """Given a page of another site that gave its name our address; then it sees and
    does nothing here."""
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.get(sandbox.url + path) as answer:
            assert answer.status == 403
            assert "127.0.0.1" in await answer.text()
        async with session.post(f"{sandbox.url}/sandbox/click", json={}) as answer:
            assert answer.status == 403


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
async def test_this_machines_names_are_taken(sandbox: Sandbox, name: str) -> None:
    port = sandbox.url.rpartition(":")[2]
    headers = {"Host": f"{name}:{port}", "Origin": f"http://{name}:{port}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(sandbox.url) as answer,
    ):
        assert answer.status == 200
