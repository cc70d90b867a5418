"""An agent whose processes are killed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hitl_core.gate import Gate
from tests.integrations.agents import POLICY
from tests.integrations.crashes.scene import Scene
from tests.support.processes.forks import Forks, forks


@pytest.fixture(scope="module")
def agents() -> Iterator[Forks]:
    with forks("tests.integrations.crashes.agent") as agents:
        yield agents


@pytest.fixture
async def scene(redis_url: str, tmp_path: Path, agents: Forks) -> AsyncIterator[Scene]:
    async with Gate.connect(redis_url, policy=POLICY, agent="billing") as gate:
        scene = Scene(redis_url, gate, tmp_path, agents)
        async with scene.lab.firing():
            yield scene
