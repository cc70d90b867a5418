"""The policy of the paths on which a tool may be called."""

from __future__ import annotations

import pytest

from tests.integrations.agents import Lab


@pytest.fixture
def deny_policy(lab: Lab) -> None:
    """The tools that no path may run."""
    lab.set_policy(default="allow", interrupt_on={"run_sql": "deny", "send_email": True})
