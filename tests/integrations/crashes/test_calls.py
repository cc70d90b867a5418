"""An agent is killed (kill -9) at one point of a call, and a second process of it finishes the job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hitl_core.review.runs.claims import DoubtAnswer
from tests.integrations.crashes.scene import Scene
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("point", ["gate.before_submit", "gate.after_submit"])
async def test_killed_around_the_submit(scene: Scene, point: str) -> None:
    """Fault A1: given an agent killed before or after its review was stored, when it starts again, then there
    is one review, and the job finishes."""
    async with scene.agent(point):
        pass
    async with scene.agent():
        await scene.decide()
        await scene.done()
    assert len(await scene.lab.all_reviews("t-1")) == 1
    assert scene.effects == ["sent a"]
    assert scene.answers["c3"][1].endswith("with reason: no")


async def test_killed_while_people_decide(scene: Scene) -> None:
    """Fault A2: given a decision that came while no agent lived, when one starts, then it continues."""
    async with scene.agent():
        await scene.review()
    await scene.decide()
    async with scene.agent():
        await scene.done()
    assert scene.effects == ["sent a"]


@pytest.mark.parametrize(
    "point",
    [
        "gate.before_claim",  # A3
        "gate.after_claim",  # A4
        "langgraph.after_resume",
        "gate.before_once",
        "langgraph.before_done",
        "gate.before_done",
    ],
)
async def test_killed_where_nothing_is_in_doubt(scene: Scene, point: str) -> None:
    """Faults A3 and A4: given an agent killed between the decision and the tool, or after the report, when it
    starts again, then the tool ran once, and nobody was asked."""
    async with scene.agent(point):
        await scene.decide()
    async with scene.agent():
        review = await scene.done()
    assert scene.effects == ["sent a"]
    assert review.runs["1"].by is None
    assert scene.answers["c1"] == ["success", "sent a"]


async def test_killed_in_the_next_model_call_keeps_what_the_tools_said(scene: Scene) -> None:
    """Given an agent killed after its tools and before the model answered, when it starts again,
    then the tools' results are as they were: every step was saved before the next began."""
    async with scene.agent(DIE_IN_MODEL="1"):
        await scene.decide()
    async with scene.agent():
        await scene.done()
    assert sorted(scene.lab.effects) == ["read x", "sent a"]
    assert scene.answers["c1"] == ["success", "sent a"]


@pytest.mark.parametrize(
    ("point", "answer", "effects", "texts"),
    [
        ("gate.after_once", "ran", 0, ("success", "result was lost. “Alice” (U1) confirmed it.")),
        ("gate.after_once", "rerun", 1, ("success", "sent a")),
        ("gate.after_once", "skip", 0, ("error", "whether it ran before is not known.")),
        (
            "langgraph.after_tool",
            "ran",
            1,
            ("success", "result was lost. “Alice” (U1) confirmed it."),
        ),
        ("langgraph.after_tool", "rerun", 2, ("success", "sent a")),
    ],
)
async def test_killed_around_the_tool_asks_a_person(
    scene: Scene, point: str, answer: DoubtAnswer, effects: int, texts: tuple[str, str]
) -> None:
    """Faults A4 and A5: given an agent killed between `once` and the report, then the call is in doubt; when
    a person answers, then exactly that happens and the model is told."""
    async with scene.agent(point):
        await scene.decide()
    async with scene.agent():
        await scene.resolve_doubt(answer)
        await scene.done()
    assert scene.effects == ["sent a"] * effects
    status, text = scene.answers["c1"]
    assert (status, text.endswith(texts[1])) == (texts[0], True)


@pytest.mark.parametrize("first", ["approve", {"to": "E"}])
async def test_killed_between_two_answers_runs_nothing_twice_and_asks_nobody(
    scene: Scene, first: Any
) -> None:
    """Given one interrupt a call, and an agent killed when the first had its answer and the second had
    not, when it starts again, then the first is not run again, and the second gets what was decided."""
    scene.shape = "per_call"
    async with scene.agent("langgraph.between_answers"):
        await scene.lab.decide((await scene.review()).id, first, "approve")
    ran = list(scene.effects)
    async with scene.agent():
        review = await scene.done()
    assert ran == ["sent a" if first == "approve" else "sent E"]
    assert scene.effects == [*ran, "ran DROP TABLE t"]
    assert [run.by for run in review.runs.values()] == [None, None]
    assert scene.answers["c1"][1].endswith(ran[0])
    assert scene.answers["c3"] == ["success", "ran DROP TABLE t"]
    assert len(await scene.lab.all_reviews("t-1")) == 1


@pytest.mark.parametrize(
    ("point", "answer", "effects", "text"),
    [
        ("langgraph.after_resume", None, 1, "sent a"),
        ("gate.after_once", "ran", 0, "result was lost. “Alice” (U1) confirmed it."),
        ("langgraph.after_tool", "rerun", 2, "sent a"),
        ("langgraph.before_done", None, 1, "sent a"),
    ],
)
async def test_killed_while_the_answers_are_given_one_by_one(
    scene: Scene, point: str, answer: DoubtAnswer | None, effects: int, text: str
) -> None:
    """Given one interrupt a call, and an agent killed around the first tool, then it is the same as when all
    are answered together: only a call that was started is in doubt."""
    scene.shape = "per_call"
    async with scene.agent(point):
        await scene.decide()
    async with scene.agent():
        if answer is not None:
            await scene.resolve_doubt(answer)
        await scene.done()
    assert scene.effects == ["sent a"] * effects
    assert scene.answers["c1"][1].endswith(text)
    assert scene.answers["c3"][1].endswith("with reason: no")
    assert len(await scene.lab.all_reviews("t-1")) == 1


async def test_an_agent_inside_a_graph_that_is_killed_in_a_later_turn_goes_on(scene: Scene) -> None:
    """Given an agent that is a node, and that is killed after its first pause was answered, when it
    starts again, then it comes to its second question."""
    scene.shape = "nested"
    async with scene.agent(DIE_IN_MODEL="1"):
        await scene.decide()
    async with scene.agent():

        async def second() -> bool:
            return len(await scene.lab.all_reviews("t-1")) == 2

        await wait_until("the second review", second)
    assert scene.effects == ["sent a"]


@pytest.mark.parametrize(
    ("answer", "effects", "shown"), [("ran", 1, "response"), ("rerun", 2, "accept")]
)
async def test_a_node_that_acts_by_itself_is_not_run_again_without_a_person(
    scene: Scene, answer: DoubtAnswer, effects: int, shown: str
) -> None:
    """Given a bare interrupt, and an agent killed in the node that acted on the answer, then it is
    in doubt, and the node gets the answer that a person gave."""
    scene.shape = "node"
    async with scene.agent(DIE_IN_NODE="1"):
        await scene.decide()
    async with scene.agent():
        await scene.resolve_doubt(answer)
        await scene.done()
    assert scene.effects == ["sent a"] * effects
    assert json.loads(scene.answers["c1"][1])["type"] == shown
