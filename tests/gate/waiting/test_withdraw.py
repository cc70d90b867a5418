"""An agent withdraws its review and continues without it."""

from __future__ import annotations

import asyncio

import pytest

from hitl_core import Gate, Policy, ToolCall
from hitl_core.errors import Refused
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.store import MemoryStore, Write
from tests.support.builders import person

POLICY = Policy.from_mapping({"default": "review"})
CALL = ToolCall("c1", "send", {})


async def test_a_withdrawn_review_belongs_to_its_process() -> None:
    """Given another process that serves the agent's reviews; when one is withdrawn; then only the process
    that withdrew it gets its outcome, with nothing to execute and the reason."""
    store = MemoryStore()
    async with (
        Gate(store, policy=POLICY, agent="billing") as gate,
        Gate(store, policy=POLICY, agent="billing") as other,
    ):
        taken: list[str] = []

        async def serve(gate: Gate) -> None:
            async for outcome in gate.outcomes():
                taken.append(outcome.review_id)

        serving = [asyncio.create_task(serve(each)) for each in (gate, other)]
        for number in range(5):
            id = await gate.submit([CALL], thread_id=f"t-{number}")
            outcome = await gate.withdraw(id, "The user went on.")
            assert outcome.execute == ()
            assert "The user went on." in outcome.answers[0].content
            await outcome.finish()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        assert taken == []


class Watched(MemoryStore):
    """Keeps what was written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[Write] = []

    async def commit(self, write: Write) -> bool:
        self.writes.append(write)
        return await super().commit(write)


async def test_the_write_that_cancels_also_claims() -> None:
    """Otherwise another process could claim it between that write and the next."""
    store = Watched()
    async with Gate(store, policy=POLICY, agent="billing") as gate:
        id = await gate.submit([CALL], thread_id="t")
        await (await gate.withdraw(id)).finish()
        [cancelled] = [w.review for w in store.writes if w.event.kind == "cancelled"]
        assert cancelled.waiting_process == gate.process


async def test_what_is_decided_can_not_be_withdrawn() -> None:
    async with Gate(MemoryStore(), policy=POLICY, agent="billing") as gate:
        id = await gate.submit([CALL], thread_id="t")
        await gate.reviews.apply(Decide(id, "1", Proposal("approve", 1), person("Ada"), "op"))
        with pytest.raises(Refused, match="are already decided") as caught:
            await gate.withdraw(id)
        assert caught.value.code == "busy"
        assert (await gate.reviews.load(id)).review.cancelled is None
        assert len((await gate.wait(id)).execute) == 1


async def test_it_is_withdrawn_once() -> None:
    async with Gate(MemoryStore(), policy=POLICY, agent="billing") as gate:
        id = await gate.submit([CALL], thread_id="t")
        await (await gate.withdraw(id)).finish()
        with pytest.raises(Refused, match="cancelled this"):
            await gate.withdraw(id)
