"""An agent is killed (kill -9) at one exact point, and a second one continues: each tool runs once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hitl_core.review import claims
from hitl_core.review.runs.claims import DoubtAnswer
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.support.builders import approve_all, person
from tests.support.jobs import finish_all
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).with_name("agent_script.py")
ROOT = Path(__file__).parents[2]


class Agents:
    """Starts agents that die at a failpoint, and checks what they left."""

    def __init__(self, url: str, effects: Path, reviews: Reviews) -> None:
        self._url, self._effects, self.reviews = url, effects, reviews
        self._started: list[asyncio.subprocess.Process] = []

    async def start(self, failpoints: str = "", tool: str = "ask") -> asyncio.subprocess.Process:
        # A short lease, so that its end need not be waited for long.
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(SCRIPT),
            self._url,
            str(self._effects),
            "1.0",
            env={
                **os.environ,
                "HITL_FAILPOINTS": failpoints,
                "TOOL": tool,
                "PYTHONPATH": str(ROOT),
            },
            stdout=asyncio.subprocess.PIPE,
        )
        self._started.append(process)
        return process

    async def wait_killed(self, process: asyncio.subprocess.Process) -> None:
        assert await asyncio.wait_for(process.wait(), 60) == -signal.SIGKILL

    async def wait_finished(self, process: asyncio.subprocess.Process) -> str:
        text, _ = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0
        return text.decode()

    async def review_id(self) -> str:
        [found] = await wait_until(
            "it is submitted", lambda: self.reviews.store.thread_ids("t"), 60
        )
        return found

    async def wait_doubt(self, review_id: str) -> None:
        """Wait until a bot, or the next agent, has put the call in doubt."""

        async def doubt() -> Any:
            await self.reviews.apply_due(review_id)
            return (await self.reviews.load(review_id)).review.calls_in_doubt

        await wait_until("the call is in doubt", doubt, 60)

    async def answer(self, review_id: str, answer: DoubtAnswer) -> None:
        await self.reviews.change(
            review_id, "answer", lambda r, now: claims.resolve(r, "1", answer, person(), now)
        )

    @property
    def effects(self) -> list[str]:
        return self._effects.read_text().splitlines() if self._effects.exists() else []

    async def end(self) -> None:
        for process in self._started:
            if process.returncode is None:
                process.kill()
                await process.wait()


@pytest.fixture
async def agents(redis_url: str, tmp_path: Path) -> AsyncIterator[Agents]:
    store = await RedisStore.open(redis_url)
    made = Agents(redis_url, tmp_path / "effects", Reviews(store))
    yield made
    await made.end()
    await store.close()


async def is_done(agents: Agents, review_id: str) -> None:
    assert (await agents.reviews.load(review_id)).review.status == "done"


@pytest.mark.parametrize("point", ["gate.before_submit", "gate.after_submit"])
async def test_killed_while_it_submits(agents: Agents, point: str):
    """Fault A1. Stored or not: the next agent finds or makes the one review, and it is shown once."""
    await agents.wait_killed(await agents.start(f"{point}=kill"))
    second = await agents.start()
    review_id = await agents.review_id()
    await approve_all(agents.reviews, review_id)
    await agents.wait_finished(second)

    assert agents.effects == [f'{review_id}:1 {{"n": 1}}']
    assert await agents.reviews.store.thread_ids("t") == [review_id]
    [job] = await finish_all(agents.reviews.store)
    assert job.note == "3"  # submitted, decided, done


async def test_killed_while_it_waits(agents: Agents):
    """Fault A2. Decided while no agent runs: the next agent continues at once, and nobody is asked again."""
    first = await agents.start()
    review_id = await agents.review_id()
    first.kill()
    await agents.wait_killed(first)
    await approve_all(agents.reviews, review_id)

    await agents.wait_finished(await agents.start())

    assert len(agents.effects) == 1
    await is_done(agents, review_id)


@pytest.mark.parametrize("point", ["gate.before_claim", "gate.after_claim", "gate.before_once"])
async def test_killed_before_it_starts_the_call(agents: Agents, point: str):
    """Faults A3 and A4. After the decision, before or after the claim: it runs once, after the restart."""
    first = await agents.start(f"{point}=kill")
    review_id = await agents.review_id()
    await approve_all(agents.reviews, review_id)
    await agents.wait_killed(first)
    assert agents.effects == []

    await agents.wait_finished(await agents.start())

    assert len(agents.effects) == 1
    await is_done(agents, review_id)


@pytest.mark.parametrize(
    ("point", "answer", "effects"),
    [
        ("gate.after_once", "rerun", 1),
        ("gate.after_once", "skip", 0),
        ("agent.after_effect", "ran", 1),
        ("gate.before_done", "ran", 1),
    ],
    ids=["a4-rerun", "a4-skip", "a5-ran", "a5-before-done"],
)
async def test_killed_around_the_side_effect(
    agents: Agents, point: str, answer: DoubtAnswer, effects: int
):
    """Faults A4 and A5. Nobody can know whether it happened: a person is asked, and only their answer
    continues the run."""
    first = await agents.start(f"{point}=kill")
    review_id = await agents.review_id()
    await approve_all(agents.reviews, review_id)
    await agents.wait_killed(first)
    left = len(agents.effects)
    second = await agents.start()
    await agents.wait_doubt(review_id)
    assert (second.returncode, len(agents.effects)) == (None, left)

    await agents.answer(review_id, answer)
    message = await agents.wait_finished(second)

    assert len(agents.effects) == effects
    await is_done(agents, review_id)
    if answer != "rerun":
        assert {"ran": "(U_ADA) confirmed it", "skip": "was skipped"}[answer] in message


async def test_an_idempotent_call_runs_again_by_itself(agents: Agents):
    """With the same key, so that the service behind the tool can recognize it."""
    first = await agents.start("agent.after_effect=kill", tool="rerunnable")
    await approve_all(agents.reviews, await agents.review_id())
    await agents.wait_killed(first)

    await agents.wait_finished(await agents.start(tool="rerunnable"))

    one, two = agents.effects
    assert one == two
