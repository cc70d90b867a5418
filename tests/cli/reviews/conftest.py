"""A desk whose person may decide."""

from __future__ import annotations

import pytest

from tests.cli.desk import Desk


@pytest.fixture
def permitted_desk(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> Desk:
    monkeypatch.setenv("HITL_CLI_DECIDE", "1")
    return desk
