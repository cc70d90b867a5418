"""An operator's desk with an empty Redis, and an environment without our settings."""

from __future__ import annotations

import os

import pytest

from tests.cli.desk import Desk
from tests.scenarios.conftest import scene

__all__ = ["scene"]  # what is decided here is shown on a card there


@pytest.fixture
def desk(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Desk:
    for name in [*os.environ]:
        if name.startswith(("HITL_", "NO_COLOR", "COLUMNS")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HITL_REDIS_URL", redis_url)
    return Desk(redis_url, capsys)
