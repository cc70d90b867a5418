"""The people are in this process, the agents in processes of their own, which are killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from hitl_core.failpoints import ENV_VARIABLE
from hitl_core.gate import Gate
from hitl_core.model import Review
from hitl_core.review.runs.claims import DoubtAnswer
from tests.integrations.agents import Lab
from tests.support.processes.forks import Forked, Forks
from tests.support.waiting import wait_until

DECISIONS = ("approve", ("reject", "no"))


class Scene:
    """The people are in this process, the agents in their own processes."""

    def __init__(self, url: str, gate: Gate, folder: Path, agents: Forks) -> None:
        self._url, self._folder, self._agents = url, folder, agents
        self.lab = Lab(gate, None, folder)
        self.shape = "turn"

    @property
    def effects(self) -> list[str]:
        """What the reviewed tool did; the free one may run again, as LangGraph has it."""
        return [line for line in self.lab.effects if not line.startswith("read")]

    @property
    def answers(self) -> dict[str, list[str]]:
        return json.loads((self._folder / "answers.json").read_text())

    @contextlib.asynccontextmanager
    async def agent(self, point: str = "", **env: str) -> AsyncIterator[Forked]:
        """Dies at `point`, or at the end of the block."""
        armed = {ENV_VARIABLE: f"{point}=kill"} if point else {}
        process = await self._agents.start(
            *(self._url, str(self._folder), self.shape), env={**os.environ, **armed, **env}
        )
        try:
            yield process
            if point or env:
                assert await process.wait() == -signal.SIGKILL
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def review(self) -> Review:
        async def find() -> Review | None:
            reviews = await self.lab.all_reviews("t-1")
            return reviews[0] if reviews else None

        return await wait_until("a review", find)

    async def pending(self) -> Review:
        async def find() -> Review | None:
            reviews = await self.lab.all_reviews("t-1")
            return next((each for each in reviews if each.status == "pending"), None)

        return await wait_until("a pending review", find)

    async def approve(self) -> Review:
        """The review that waits now."""
        review = await self.pending()
        await self.lab.decide(review.id, *["approve"] * len(review.actions))
        return review

    async def decide(self) -> None:
        review = await self.review()
        await self.lab.decide(review.id, *DECISIONS[: len(review.actions)])

    async def done(self) -> Review:
        return await self.lab.done((await self.review()).id)

    async def own_question(self) -> Review:
        """Approve the call, whose tool then asks a question of its own: the review of that question."""
        await self.lab.done((await self.approve()).id)
        return await self.pending()

    async def resolve_doubt(self, answer: DoubtAnswer, review_id: str | None = None) -> None:
        """Answer for the call in doubt, as soon as there is one."""

        async def doubts() -> Any:
            review = await (self.lab.review(review_id) if review_id else self.review())
            return review.calls_in_doubt

        await wait_until("a doubt", doubts)
        await self.lab.resolve(review_id or (await self.review()).id, answer)
