"""Traps of LangGraph and LangChain. Each was seen without the driver, too (langchain 1.4.7, langgraph
1.2.22).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from hitl_core.errors import IntegrationError, Refused
from hitl_core.integrations.langgraph.graph import messages_of
from tests.integrations.agents import ASKING, Lab, Script, answers, call, flipping, go, tools

TWO = [call("c1", "send_email", to="a"), call("c2", "send_email", to="b")]
CONFIG: Any = {"configurable": {"thread_id": "t-1"}}


@pytest.mark.parametrize(
    "bad",
    [
        {"decisions": [{"type": "approve"}]},
        {"decisions": [{"type": "shrug"}, {"type": "approve"}]},
        {"decisions": "yes"},
        {"no": "decisions"},
    ],
)
async def test_a_thread_with_a_bad_saved_answer_is_repaired(lab: Lab, bad: Any) -> None:
    """Given a bad answer, which LangChain saved and raises again each time, when the review
    is decided, then the run continues with what was decided."""
    agent = lab.agent(TWO)
    driver = lab.reviews.drive(agent)
    paused = await driver.run(go(), thread_id="t-1")
    with pytest.raises((ValueError, TypeError, KeyError)):
        await agent.ainvoke(Command(resume=bad), CONFIG)
    async with lab.serving(driver):
        await lab.decide(paused.review_id, "approve", ("reject", "no"))
        await lab.done(paused.review_id)
    assert lab.effects == ["sent a"]


async def test_a_repaired_thread_finds_its_review_again(lab: Lab) -> None:
    """Given a thread that was cured by hand, so that its interrupt has a new id, then it is the
    same review."""
    agent = lab.agent(TWO)
    driver = lab.reviews.drive(agent)
    paused = await driver.run(go(), thread_id="t-1")
    await agent.aupdate_state(CONFIG, None)
    assert (await driver.run(None, thread_id="t-1")).review_id == paused.review_id
    async with lab.serving(driver):
        await lab.decide(paused.review_id, "approve", "approve")
        await lab.done(paused.review_id)
    assert sorted(lab.effects) == ["sent a", "sent b"]


@pytest.mark.parametrize("decision", ["approve", ("reject", "no")])
async def test_a_predicate_that_flips_for_one_call_changes_nothing(lab: Lab, decision: Any) -> None:
    """Given a `when` that no longer gates the first call at the resume (so that the number of
    decisions is wrong for LangChain), then each call does what the review says."""
    gated = {"a"}

    def when(request: Any) -> bool:
        return request.tool_call["args"]["to"] in {*gated, "b"}

    asking = {"send_email": {"allowed_decisions": ["approve", "reject"], "when": when}}
    driver = lab.driver(TWO, asking=asking)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        gated.clear()
        await lab.decide(paused.review_id, decision, "approve")
        await lab.done(paused.review_id)
    assert sorted(lab.effects) == (["sent a", "sent b"] if decision == "approve" else ["sent b"])
    assert answers(lab.stops[0])["c1"][0] == ("success" if decision == "approve" else "error")


async def test_a_predicate_that_gates_a_free_call_later_runs_nothing_without_a_review(
    lab: Lab,
) -> None:
    """Given a `when` that gates one call more at the resume, then that call does not run, as nobody
    was asked about it, and the model may call it again."""
    extra: set[str] = set()

    def when(request: Any) -> bool:
        return request.tool_call["args"]["to"] in {*extra, "b"}

    asking = {"send_email": {"allowed_decisions": ["approve", "reject"], "when": when}}
    driver = lab.driver(TWO, asking=asking)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        assert len((await lab.review(paused.review_id)).actions) == 1
        extra.add("a")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    assert lab.effects == ["sent b"]
    assert "Nobody was asked" in answers(lab.stops[0])["c1"][1]


async def test_two_middlewares_that_ask_about_one_turn_run_nothing_without_a_review(
    lab: Lab,
) -> None:
    """Given a second HumanInTheLoopMiddleware, whose interrupt comes after the first one's answer,
    then what it asks about does not run on the first one's review."""
    second = type("Second", (HumanInTheLoopMiddleware,), {})
    agent = create_agent(
        Script(turns=[[call("c1", "send_email", to="a"), call("c2", "run_sql", query="x")]]),
        tools(lab.folder / "effects"),
        middleware=[
            second({"run_sql": {"allowed_decisions": ["approve", "reject"]}}),
            HumanInTheLoopMiddleware({"send_email": True}),
        ],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    assert lab.effects == ["sent a"]
    assert "Nobody was asked" in answers(lab.stops[-1])["c2"][1]


async def test_a_predicate_that_flips_for_all_runs_nothing_that_was_rejected(lab: Lab) -> None:
    """Given a `when` that says False at the resume, then LangChain would run the rejected call; it
    doesn't."""
    asking = {
        "send_email": {"allowed_decisions": ["approve", "reject"], "when": flipping(True, False)}
    }
    driver = lab.driver(TWO[:1], asking=asking)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, ("reject", "no"))
        await lab.done(paused.review_id)
    reason = "User rejected the tool call for `send_email` with reason: no"
    assert answers(lab.stops[0])["c1"] == ("error", reason)
    assert lab.effects == []


SAME = [call("c1", "send_email", to="a"), call("c2", "send_email", to="a")]


@pytest.mark.parametrize(
    ("decision", "effects"),
    [("approve", ["sent a", "sent a"]), ({"to": "E"}, []), (("reject", "no"), [])],
)
async def test_of_identical_calls_only_approved_ones_run(
    lab: Lab, decision: Any, effects: list[str]
) -> None:
    """Given two identical calls of which a predicate gates only the second, so that nobody can tell
    which one was meant, then after anything but an approval neither runs."""

    def when(request: Any) -> bool:
        return request.tool_call["id"] == "c2"

    asking = {"send_email": {"allowed_decisions": ["approve", "edit", "reject"], "when": when}}
    driver = lab.driver(SAME, asking=asking)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, decision)
        await lab.done(paused.review_id)
    assert lab.effects == effects


async def test_identical_calls_keep_their_own_decisions(lab: Lab) -> None:
    """Given two identical gated calls, when one is edited and one rejected, then only the edit runs."""
    driver = lab.driver(SAME)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, ("reject", "once is enough"), {"to": "E"})
        await lab.done(paused.review_id)
    assert lab.effects == ["sent E"]
    assert answers(lab.stops[0])["c1"][0] == "error"


def _ask_user() -> Any:
    @tool
    def ask_user(question: str) -> str:
        """Ask the user."""
        return str(interrupt({"question": question}))

    return ask_user


async def test_an_unknown_interrupt_beside_reviewed_calls_stays_pending(lab: Lab) -> None:
    """Given a free tool that interrupts in a reviewed turn, when the review is approved, then the
    reviewed call ran once, the question is still there, and its answer finishes the run."""
    agent = create_agent(
        Script(turns=[[call("c1", "send_email", to="a"), call("c2", "ask_user", question="q")]]),
        [*tools(lab.folder / "effects"), _ask_user()],
        middleware=[HumanInTheLoopMiddleware(ASKING)],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        for foreign in (Command(resume="text"), Command(resume={"decisions": []}), Command()):
            with pytest.raises(Refused, match=str(paused.review_id)):
                await driver.run(foreign, thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    [stop] = lab.stops
    [question] = stop.unknown
    run = await driver.run(Command(resume={question.id: "yes"}), thread_id="t-1")
    assert (run.finished, lab.effects) == (True, ["sent a"])
    assert answers(run)["c2"] == ("success", "yes")


async def test_an_agent_that_is_a_node_of_another_graph_is_reviewed(lab: Lab) -> None:
    """Given an agent inside a graph, so that the outer state has no AI message yet, then its calls
    are found."""
    inner = create_agent(
        Script(turns=[[*TWO, call("c3", "read", topic="x")]]),
        tools(lab.folder / "effects"),
        middleware=[HumanInTheLoopMiddleware(ASKING)],
    )
    outer = StateGraph(MessagesState)
    outer.add_node("agent", inner)
    outer.add_edge(START, "agent")
    driver = lab.reviews.drive(outer.compile(checkpointer=lab.saver))
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, {"to": "E"}, ("reject", "no"))
        review = await lab.done(paused.review_id)
    assert sorted(lab.effects) == ["read x", "sent E"]
    assert review.runs["1"].line == "sent E"


class Ailing(AsyncSqliteSaver):
    """A checkpointer that fails once, as it saves the end of the tools' step."""

    ails = True

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        tools = any(isinstance(m, ToolMessage) for m in messages_of(checkpoint["channel_values"]))
        if tools and self.ails:
            self.ails = False
            raise OSError("the disk is away")
        return await super().aput(config, checkpoint, metadata, new_versions)


async def test_a_step_that_ended_unsaved_does_not_count_as_the_end(
    lab: Lab, saver: AsyncSqliteSaver
) -> None:
    """Given tools that all ran, and a step after them that nobody took, for which LangGraph names no next
    node, then the run runs to its end, and no tool runs again."""
    lab.saver = Ailing(saver.conn)
    driver = lab.driver(TWO)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve", "approve")
        await lab.done(paused.review_id)
    [stop] = lab.stops
    assert (stop.finished, stop.state["messages"][-1].text) == (True, "the end")
    assert sorted(lab.effects) == ["sent a", "sent b"]


async def test_a_replay_from_before_the_pause_does_not_run_the_call_again(lab: Lab) -> None:
    """Given a finished run, when its thread is replayed or forked from the pause, then the approved
    call does not run again, and the fork can't be decided by the old review."""
    agent = lab.agent(TWO[:1])
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    history = [state async for state in agent.aget_state_history(CONFIG)]
    before = next(state for state in history if state.interrupts)
    await agent.ainvoke(None, before.config)
    await agent.aupdate_state(before.config, None)
    with pytest.raises(IntegrationError, match="reviewed before"):
        await driver.run(None, thread_id="t-1")
    await agent.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)
    assert lab.effects == ["sent a"]


async def test_a_review_that_was_taken_up_twice_runs_once(lab: Lab) -> None:
    """Given two processes of the agent that both serve, then only one of them gets a settled review."""
    other = Lab(lab.gate, lab.saver, lab.folder)
    driver = lab.driver(TWO)
    async with lab.serving(driver), other.serving(other.driver(TWO)):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve", "approve")
        await lab.done(paused.review_id)
    assert sorted(lab.effects) == ["sent a", "sent b"]
    assert len(lab.stops + other.stops) == 1


async def test_a_listener_of_stops_may_fail_and_gets_the_stop_again(lab: Lab) -> None:
    """Given a listener that raises the first time, then the tools don't run again and it gets the same
    stop."""
    driver = lab.driver(TWO[:1])
    text: list[Callable[[], bool]] = []

    async def listen(run: Any) -> None:
        text.append(lambda: run.finished)
        if len(text) == 1:
            raise ConnectionError("the chat is away")

    async with lab.serving(driver, listen):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    assert [finished() for finished in text] == [True, True]
    assert lab.effects == ["sent a"]


async def test_a_run_whose_lease_has_ended_starts_no_tool(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a run whose lease ended between its resume and its tool, then its tool does not start,
    although this process has the review again; the process with the new claim runs it, once."""
    monkeypatch.setenv("HITL_FAILPOINTS", f"gate.before_once=pause:{lab.folder}/go")
    driver = lab.driver(TWO[:1])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.claimed(paused.review_id, fence=1)
        await lab.end_lease(paused.review_id)
        await lab.claimed(paused.review_id, fence=2)
        (lab.folder / "go").touch()
        await lab.done(paused.review_id)
    assert lab.effects == ["sent a"]
