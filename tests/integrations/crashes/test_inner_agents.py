"""An agent is killed while an agent inside it works, and a second process of it finishes the job."""

from __future__ import annotations

import json

import pytest

from hitl_core.review.runs.claims import DoubtAnswer
from tests.integrations.crashes.scene import DECISIONS, Scene

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shape", ["in_tool", "in_tool_per_call"])
@pytest.mark.parametrize(
    ("point", "answer", "effects", "ending"),
    [
        ("gate.after_claim", None, 1, "sent a"),
        ("langgraph.after_resume", None, 1, "sent a"),
        ("gate.after_once", "ran", 0, "“Alice” (U1) confirmed it."),
        ("langgraph.after_tool", "ran", 1, "“Alice” (U1) confirmed it."),
        ("langgraph.after_tool", "rerun", 2, "sent a"),
        ("langgraph.before_done", None, 1, "sent a"),
    ],
)
async def test_killed_while_an_agent_in_a_tool_works(
    scene: Scene, shape: str, point: str, answer: DoubtAnswer | None, effects: int, ending: str
) -> None:
    """Given an agent that a tool runs, and a process killed around its tool, when it starts again, then only
    a call that was started is in doubt, and the agent comes to its second question and to its end."""
    scene.shape = shape
    async with scene.agent(point):
        first = await scene.pending()
        await scene.lab.decide(first.id, *DECISIONS)
    async with scene.agent():
        if answer is not None:
            await scene.resolve_doubt(answer, first.id)
        second = await scene.approve()
        await scene.lab.done(second.id)
        await scene.lab.done(first.id)
    assert scene.effects == [*["sent a"] * effects, "sent d"]
    inner = json.loads(scene.answers["o1"][1])
    assert inner["c1"].endswith(ending)
    assert inner["c3"].endswith("with reason: no")


@pytest.mark.parametrize(
    ("point", "answer", "effects"),
    [
        ("gate.after_submit", None, 1),
        ("gate.after_claim", None, 1),
        ("langgraph.after_resume", None, 1),
        ("gate.after_once", "ran", 0),
        ("langgraph.after_tool", "rerun", 2),
        ("langgraph.before_done", None, 1),
    ],
)
async def test_killed_while_a_sub_agent_of_deepagents_works(
    scene: Scene, point: str, answer: DoubtAnswer | None, effects: int
) -> None:
    """dialects 1: given a deep agent that is killed around its sub-agent's tool, then another process
    continues there, and nothing runs twice unless a person decided so."""
    pytest.importorskip("deepagents")
    scene.shape = "deep"
    async with scene.agent(point):
        if point != "gate.after_submit":
            await scene.decide()
    async with scene.agent():
        if point == "gate.after_submit":
            await scene.decide()
        if answer is not None:
            await scene.resolve_doubt(answer)
        await scene.done()
    assert scene.effects == ["sent a"] * effects
    assert scene.answers["o1"] == ["success", "the end of mail"]


async def test_killed_in_the_next_model_call_of_an_agent_in_a_tool_goes_on(scene: Scene) -> None:
    scene.shape = "in_tool"
    async with scene.agent(DIE_IN_MODEL="1"):
        first = await scene.pending()
        await scene.lab.decide(first.id, *DECISIONS)
    async with scene.agent():
        second = await scene.approve()
        await scene.lab.done(second.id)
    assert scene.effects == ["sent a", "sent d"]


@pytest.mark.parametrize("shape", ["in_tool", "in_tool_per_call"])
async def test_killed_after_an_agent_in_a_tool_ended_asks_nobody_again(
    scene: Scene, shape: str
) -> None:
    """Given an agent that a tool ran to its end, and a process killed before the tool's own end, when it
    starts again, then the tool comes to its end, nothing runs twice, and there is no review more."""
    scene.shape = shape
    async with scene.agent(DIE_AFTER_INNER="1"):
        first = await scene.pending()
        await scene.lab.decide(first.id, *DECISIONS)
        await scene.lab.done(first.id)
        second = await scene.approve()
    async with scene.agent():
        await scene.lab.done(second.id)
    assert scene.effects == ["sent a", "sent d"]
    assert json.loads(scene.answers["o1"][1])["d1"] == "sent d"
    assert len(await scene.lab.all_reviews("t-1")) == 2
