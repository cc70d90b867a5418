"""Two processes of an agent continue one thread at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from hitl_core.errors import LeaseLost, Refused
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph import Driver
from hitl_core.integrations.langgraph.driver.thread_locks import ThreadLocks
from hitl_core.model import AgentProblem
from tests.integrations.agents import POLICY, Lab, Script, answers, call, go
from tests.integrations.graphs import State
from tests.integrations.langgraph.pauses.test_own_questions import inbox
from tests.support.waiting import wait_until


@pytest.fixture
async def processes(lab: Lab) -> AsyncIterator[tuple[Lab, Lab]]:
    """Two processes over the same store and checkpointer."""
    async with Gate(lab.gate.reviews.store, policy=POLICY, agent="billing") as gate:
        yield lab, Lab(gate, lab.saver, lab.folder)


async def wait_for_both(*work: asyncio.Task[Any]) -> list[Any]:
    return await asyncio.gather(*work, return_exceptions=True)


async def test_free_tools_run_once_though_two_processes_continue_a_run(
    processes: tuple[Lab, Lab],
) -> None:
    """Given a saved message, when two processes continue the thread at once, then the second one waits for
    the first, nothing runs twice, and both get the end."""
    ours, theirs = processes
    started, may_end = asyncio.Event(), asyncio.Event()

    async def during() -> None:
        started.set()
        await may_end.wait()

    turn = [call("c1", "read", topic="a")]
    one, other = ours.driver(turn, during=during), theirs.driver(turn, during=during)
    await one.save_input(go(), thread_id="t-1")
    first = asyncio.create_task(one.run(None, thread_id="t-1"))
    await started.wait()
    second = asyncio.create_task(other.run(None, thread_id="t-1"))
    done, _ = await asyncio.wait([second], timeout=0.1)
    assert not done
    may_end.set()
    runs = await wait_for_both(first, second)
    assert [run.finished for run in runs] == [True, True]
    assert ours.effects == ["read a"]


def asking_tool(lab: Lab, reached: asyncio.Event, may_end: asyncio.Event) -> Driver:
    """An agent with an approved tool that asks a question of its own, which no dialect knows."""

    @tool
    async def transfer(to: str) -> str:
        """Transfer money."""
        answer = interrupt(f"How much to {to}?")
        with (lab.folder / "effects").open("a") as file:
            file.write(f"{answer} to {to}\n")
        reached.set()
        await may_end.wait()
        return f"{answer} to {to}"

    agent = create_agent(
        Script(turns=[[call("c1", "transfer", to="a")], "Done."]),
        [transfer],
        middleware=[HumanInTheLoopMiddleware({"transfer": True})],
        checkpointer=lab.saver,
    )
    return lab.reviews.drive(agent)


@pytest.mark.parametrize("in_one_process", [True, False])
async def test_an_answer_to_a_tools_own_question_runs_its_code_once(
    processes: tuple[Lab, Lab], in_one_process: bool
) -> None:
    """Given an approved tool that waits at a question of its own, when two answers come at once, then one of
    them is refused, and the tool's code runs once."""
    ours, theirs = processes
    reached, may_end = asyncio.Event(), asyncio.Event()
    one = asking_tool(ours, reached, may_end)
    other = one if in_one_process else asking_tool(theirs, reached, may_end)
    run = await one.run(go(), thread_id="t-1")
    async with ours.serving(one):
        await ours.decide(run.review_id, "approve")
        await ours.done(run.review_id)
    first = asyncio.create_task(one.run(Command(resume=5), thread_id="t-1"))
    await reached.wait()
    with pytest.raises(Refused, match="goes on"):
        await other.run(Command(resume=7), thread_id="t-1")
    may_end.set()
    assert (await first).finished
    assert ours.effects == ["5 to a"]


@pytest.mark.parametrize("has_ended", [True, False])
async def test_an_answer_that_is_given_again_after_a_cancellation_runs_no_code(
    processes: tuple[Lab, Lab], has_ended: bool
) -> None:
    """Given the answer to an approved tool's own question, whose run is cancelled while the tool runs, when
    any process answers again, then the tool's code does not run a second time, and the model reads that
    nobody knows whether it ran."""
    ours, theirs = processes
    reached, may_end = asyncio.Event(), asyncio.Event()
    ends = asyncio.Event()
    ends.set()
    one, other = asking_tool(ours, reached, may_end), asking_tool(theirs, reached, ends)
    run = await one.run(go(), thread_id="t-1")
    async with ours.serving(one):
        await ours.decide(run.review_id, "approve")
        await ours.done(run.review_id)
    first = asyncio.create_task(one.run(Command(resume=5), thread_id="t-1"))
    await reached.wait()
    first.cancel()
    await asyncio.wait([first])
    if has_ended:
        may_end.set()
    again = await other.run(Command(resume=7), thread_id="t-1")
    assert again.finished
    assert ours.effects == ["5 to a"]
    text = "`transfer` was started before. Whether it ran is not known. Do not retry it."
    assert answers(again) == {"c1": ("error", text)}


async def test_a_cancelled_run_frees_its_thread(processes: tuple[Lab, Lab]) -> None:
    """Given a run that is cancelled, or that waits for another process's run, then no process waits for its
    lease."""
    ours, theirs = processes
    started = asyncio.Event()

    async def during() -> None:
        started.set()
        await asyncio.Event().wait()

    turn = [call("c1", "read", topic="a")]
    first = asyncio.create_task(ours.driver(turn, during=during).run(go(), thread_id="t-1"))
    await started.wait()
    second = asyncio.create_task(theirs.driver(turn).run(None, thread_id="t-1"))
    await asyncio.wait([second], timeout=0.1)
    for task in (second, first):
        task.cancel()
        await asyncio.wait([task])
    assert (await theirs.driver(turn).run(None, thread_id="t-1")).finished


def lose_lock(monkeypatch: pytest.MonkeyPatch, times: int = 1) -> list[LeaseLost]:
    """The next checks of a thread's lock find it lost. Returns a list that is empty after that."""
    check, losses = ThreadLocks.check_held, [LeaseLost("the lock is lost")] * times

    def lose_or_check(locks: ThreadLocks, thread_id: str) -> None:
        if losses:
            raise losses.pop()
        check(locks, thread_id)

    monkeypatch.setattr(ThreadLocks, "check_held", lose_or_check)
    return losses


async def test_a_process_that_lost_only_the_lock_leaves_no_call_in_doubt_and_frees_the_review(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an approved call whose process lost the lock of the thread, but not its claim of the review, then
    the call does not start, nobody is asked about it, and it runs once when the claim has ended."""
    driver = lab.driver([call("c1", "send_email", to="a")])
    run = await driver.run(go(), thread_id="t-1")
    losses = lose_lock(monkeypatch)
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        review = await lab.done(run.review_id)
    assert not losses
    assert lab.effects == ["sent a"]
    assert review.runs["1"].attempt == 1


async def test_a_process_that_lost_only_the_lock_leaves_no_answer_in_doubt(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an answer to a node's own question, then the node does not get it before the lock is there."""
    got = list[Any]()

    def ask(state: Any) -> Any:
        got.append(interrupt(inbox("pay", {"price": 80})))
        return {}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    driver = lab.reviews.drive(graph.compile(checkpointer=lab.saver))
    run = await driver.run({"out": []}, thread_id="t-1")
    losses = lose_lock(monkeypatch)
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        review = await lab.done(run.review_id)
    assert not losses
    assert len(got) == 1
    assert review.runs["1"].attempt == 1


async def test_people_are_told_when_a_process_loses_the_lock_again_and_again(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a tool or a node that blocks its process for longer than the lease at each try, then the card
    says so."""
    driver = lab.driver([call("c1", "send_email", to="a")])
    run = await driver.run(go(), thread_id="t-1")
    lose_lock(monkeypatch, times=2)
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")

        async def find_problem() -> AgentProblem | None:
            return (await lab.review(run.review_id)).agent_problem

        problem = await wait_until("the problem is recorded", find_problem)
        assert problem.why == "the lock is lost"
        assert lab.effects == []
        review = await lab.done(run.review_id)
    assert lab.effects == ["sent a"]
    assert review.agent_problem is None
