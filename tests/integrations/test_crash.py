"""An agent is killed (kill -9) at one point, and a second process of it finishes the job."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from hitl_core.failpoints import ENV_VARIABLE
from hitl_core.gate import Gate
from hitl_core.model import Review
from hitl_core.review.runs.claims import DoubtAnswer
from tests.integrations.agents import POLICY, Lab
from tests.support.processes.forks import Forked, Forks, forks
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

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

    async def wait_doubt(self, review_id: str | None = None) -> None:
        async def doubts() -> Any:
            review = await (self.lab.review(review_id) if review_id else self.review())
            return review.calls_in_doubt

        await wait_until("a doubt", doubts)

    async def resolve(self, answer: DoubtAnswer, review_id: str | None = None) -> None:
        await self.lab.resolve(review_id or (await self.review()).id, answer)


@pytest.fixture(scope="module")
def agents() -> Iterator[Forks]:
    with forks("tests.integrations.crash_agent") as agents:
        yield agents


@pytest.fixture
async def scene(redis_url: str, tmp_path: Path, agents: Forks) -> AsyncIterator[Scene]:
    async with Gate.connect(redis_url, policy=POLICY, agent="billing") as gate:
        scene = Scene(redis_url, gate, tmp_path, agents)
        async with scene.lab.firing():
            yield scene


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
        await scene.wait_doubt()
        await scene.resolve(answer)
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
            await scene.wait_doubt()
            await scene.resolve(answer)
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
        await scene.wait_doubt()
        await scene.resolve(answer)
        await scene.done()
    assert scene.effects == ["sent a"] * effects
    assert json.loads(scene.answers["c1"][1])["type"] == shown


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
        await scene.wait_doubt(first.id)
        await scene.resolve("rerun", first.id)
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
        first = await scene.approve()
        await scene.lab.done(first.id)
        second = await scene.pending()
    async with scene.agent(**env):
        await scene.approve()
    async with scene.agent():
        await scene.wait_doubt(second.id)
        await scene.resolve(answer, second.id)
        await scene.lab.done(second.id)
    assert scene.effects == ["paid a"] * effects
    assert json.loads(scene.answers["c1"][1])["type"] == output


@pytest.mark.parametrize(
    ("answer", "effects", "output"), [("ran", 1, "ignore"), ("rerun", 2, "response")]
)
async def test_killed_while_a_tool_acts_on_a_written_answer_asks_a_person(
    scene: Scene, answer: DoubtAnswer, effects: int, output: str
) -> None:
    """attack 7, H1: given an agent killed after its tool acted on an answer in a person's own words, then the
    answered question is in doubt, and the tool acts again only if a person says so."""
    scene.shape = "choosing"
    async with scene.agent():
        first = await scene.approve()
        await scene.lab.done(first.id)
        second = await scene.pending()
    async with scene.agent(DIE_IN_NODE="1"):
        await scene.lab.decide(second.id, ("respond", "B"))
    async with scene.agent():
        await scene.wait_doubt(second.id)
        await scene.resolve(answer, second.id)
        await scene.lab.done(second.id)
    assert scene.effects == ["paid a from B"] * effects
    assert json.loads(scene.answers["c1"][1])["type"] == output


async def test_a_question_that_takes_only_words_gets_none_of_ours(scene: Scene) -> None:
    """attack 7, H1: given the same with a question that accepts only an answer, when a person says that the
    tool ran, then it gets no answer at all, and the run stays paused."""
    scene.shape = "only_words"
    async with scene.agent():
        first = await scene.approve()
        await scene.lab.done(first.id)
        second = await scene.pending()
    async with scene.agent(DIE_IN_NODE="1"):
        await scene.lab.decide(second.id, ("respond", "B"))
    async with scene.agent():
        await scene.wait_doubt(second.id)
        await scene.resolve("ran", second.id)
        await scene.lab.done(second.id)
    assert scene.effects == ["paid a from B"]
    assert scene.answers == {}


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
            await scene.wait_doubt(first.id)
            await scene.resolve(answer, first.id)
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
            await scene.wait_doubt()
            await scene.resolve(answer)
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
