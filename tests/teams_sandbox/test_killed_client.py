"""A bot that is killed in the middle of a request to the local Teams."""

from __future__ import annotations

import pytest

from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import web_app
from tests.support.killed_client import check_half_a_request


async def test_half_a_request_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    sandbox = Sandbox()
    path = f"/smba.trafficmanager.net/emea/{sandbox.workspace.tenant_id}/v3/conversations"
    await check_half_a_request(web_app(sandbox), path, caplog)
