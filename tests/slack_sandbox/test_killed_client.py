"""A bot that is killed in the middle of a request to the local Slack."""

from __future__ import annotations

import pytest

from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import SandboxServer
from tests.support.killed_client import check_half_a_request


async def test_half_a_request_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    app = SandboxServer(Sandbox()).web_app()
    await check_half_a_request(app, "/actions/T0ACME/x", caplog)
