"""An agent is killed around a tool's own question, and a second process of it finishes the job."""

from __future__ import annotations

import json

import pytest

from hitl_core.failpoints import ENV_VARIABLE
from hitl_core.review.runs.claims import DoubtAnswer
from tests.integrations.crashes.scene import Scene

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("point", ["langgraph.after_resume", "langgraph.before_done"])
async def test_killed_around_a_tools_own_question_asks_it_once(scene: Scene, point: str) -> None:
    """Given a tool that asks something after its approval, and an agent killed before it started, or when its
    question was a review already, when it starts again, then there is one review of the question, and the
    tool does what was decided, once."""
    scene.shape = "handoff"
    async with scene.agent(point):
        first = await scene.approve()
    async with scene.agent():
        await scene.lab.done(first.id)
        second = await scene.approve()
        await scene.lab.done(second.id)
    assert scene.effects == ["paid a"]
    assert len(await scene.lab.all_reviews("t-1")) == 2
    assert json.loads(scene.answers["c1"][1])["type"] == "accept"


async def test_killed_before_the_pause_was_kept_asks_a_person_and_then_the_question(
    scene: Scene,
) -> None:
    """Given an agent killed as its tool came to the question, so that nobody knows how far it got, then the
    call is in doubt; when it may run again, it asks, and acts once."""
    scene.shape = "handoff"
    async with scene.agent("langgraph.after_tool"):
        first = await scene.approve()
    async with scene.agent():
        await scene.resolve_doubt("rerun", first.id)
        second = await scene.approve()
        await scene.lab.done(second.id)
    assert scene.effects == ["paid a"]


@pytest.mark.parametrize(
    ("env", "answer", "effects", "output"),
    [
        ({"DIE_IN_NODE": "1"}, "ran", 1, "response"),
        ({"DIE_IN_NODE": "1"}, "rerun", 2, "accept"),
        ({ENV_VARIABLE: "gate.after_once=kill"}, "rerun", 1, "accept"),
        ({ENV_VARIABLE: "gate.after_once=kill"}, "skip", 0, "response"),
    ],
)
async def test_killed_while_a_tool_acts_on_its_answer_asks_a_person(
    scene: Scene, env: dict[str, str], answer: DoubtAnswer, effects: int, output: str
) -> None:
    """Given an agent killed between the answer to its tool's question and the end of the tool, then the
    answered action is in doubt, and the tool gets the person's answer."""
    scene.shape = "handoff"
    async with scene.agent():
        second = await scene.own_question()
    async with scene.agent(**env):
        await scene.approve()
    async with scene.agent():
        await scene.resolve_doubt(answer, second.id)
        await scene.lab.done(second.id)
    assert scene.effects == ["paid a"] * effects
    assert json.loads(scene.answers["c1"][1])["type"] == output


async def answer_and_die(scene: Scene, shape: str, answer: DoubtAnswer) -> None:
    """The agent is killed after its tool acted on a person's answer to its question; then a person answers
    the doubt."""
    scene.shape = shape
    async with scene.agent():
        second = await scene.own_question()
    async with scene.agent(DIE_IN_NODE="1"):
        await scene.lab.decide(second.id, ("respond", "B"))
    async with scene.agent():
        await scene.resolve_doubt(answer, second.id)
        await scene.lab.done(second.id)


@pytest.mark.parametrize(
    ("answer", "effects", "output"), [("ran", 1, "ignore"), ("rerun", 2, "response")]
)
async def test_killed_while_a_tool_acts_on_a_written_answer_asks_a_person(
    scene: Scene, answer: DoubtAnswer, effects: int, output: str
) -> None:
    """attack 7, H1: given an agent killed after its tool acted on an answer in a person's own words, then the
    answered question is in doubt, and the tool acts again only if a person says so."""
    await answer_and_die(scene, "choosing", answer)
    assert scene.effects == ["paid a from B"] * effects
    assert json.loads(scene.answers["c1"][1])["type"] == output


async def test_a_question_that_takes_only_words_gets_none_of_ours(scene: Scene) -> None:
    """attack 7, H1: given the same with a question that accepts only an answer, when a person says that the
    tool ran, then it gets no answer at all, and the run stays paused."""
    await answer_and_die(scene, "only_words", "ran")
    assert scene.effects == ["paid a from B"]
    assert scene.answers == {}
