"""An agent process is suspended for longer than its lease, and goes on after another one took over."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.integrations.crashes.scene import Scene
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("shape", "effects"), [("free", ["read x"]), ("free_first", ["read x", "sent a"])]
)
async def test_a_suspended_process_runs_no_tool_after_another_one_took_over(
    scene: Scene, tmp_path: Path, shape: str, effects: list[str]
) -> None:
    """Given a process that is suspended before a tool that nobody needs to approve, in a turn with or without
    a review, when another process has run that tool, then the first one does not run it again."""
    scene.shape, went_on = shape, tmp_path / "went_on"

    async def is_done() -> bool:
        return sorted(scene.lab.effects) == effects

    async with scene.agent(STOP_BEFORE="read", WENT_ON=str(went_on)) as suspended:
        if shape == "free_first":
            await scene.decide()
        await wait_until("the process is suspended", lambda: is_stopped(suspended.pid))
        async with scene.agent():
            await wait_until("another process ran the tools", is_done)
            os.kill(suspended.pid, signal.SIGCONT)

            async def has_gone_on() -> bool:
                return went_on.exists()

            await wait_until("the suspended process goes on", has_gone_on)
        suspended.kill()
    assert sorted(scene.lab.effects) == effects


async def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
