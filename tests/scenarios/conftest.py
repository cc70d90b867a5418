"""Checked after every scenario: no card has two messages, all requests to Slack are within its limits, and no
log quotes an argument.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from slack_sandbox.client.actor import Actor
from slack_sandbox.server import running_sandbox
from tests.support.bots import CANARY, CLICK, Scene, doubles
from tests.support.slack_limits import assert_calls


@pytest.fixture
async def scene(
    redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Scene]:
    caplog.set_level(logging.INFO)
    async with running_sandbox(answer_timeout=CLICK) as sandbox, Actor(sandbox.url) as hands:
        scene = Scene(sandbox, hands, redis_url, tmp_path)
        try:
            yield scene
        finally:
            await scene.close()
        assert doubles(sandbox) == []
        assert_calls(sandbox.api.calls)
        # At this point `caplog.text` is that of the fixture's own end, and so empty.
        ours = [logging.Formatter().format(record) for record in caplog.get_records("call")]
        logs = [*ours, *(process.output for process in scene.processes)]
        for log in logs:
            assert CANARY not in log
            assert "Traceback" not in log
