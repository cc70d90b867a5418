"""The guard in front of the tools, and agents that can't be resumed safely."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from hitl_core.errors import HitlError, IntegrationError, StoreError, StoreUnavailable
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.guard import guard
from hitl_core.model import Snapshot
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore, Write
from tests.integrations.agents import ASKING, POLICY, Lab, Script, answers, call, go, tools
from tests.support.waiting import wait_until

EMAIL = [call("c1", "send_email", to="a")]
APPROVED = {"decisions": [{"type": "approve"}]}


class Changing(AgentMiddleware[Any, Any, Any]):
    """A foreign middleware that changes arguments on their way to the tool."""

    def __init__(self, **args: Any) -> None:
        self._args = args

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(tool_call={**request.tool_call, "args": self._args}))


class AilingStore(MemoryStore):
    """A store that can be unavailable, or refuse; and that doesn't answer the next `unanswered` reads."""

    ails: HitlError | None = None
    unanswered = 0

    async def load(self, review_id: str) -> Snapshot | None:
        if self.unanswered:
            self.unanswered -= 1
            raise StoreUnavailable("away")
        return await super().load(review_id)

    async def commit(self, write: Write) -> bool:
        if self.ails is not None:
            raise self.ails
        return await super().commit(write)


async def decide(lab: Lab, driver: Any, *decisions: Any) -> dict[str, tuple[str, str]]:
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, *decisions)
        await lab.done(paused.review_id)
    return answers(lab.stops[-1])


async def test_arguments_that_were_changed_after_the_decision_do_not_run(lab: Lab) -> None:
    """Given a middleware between LangChain's and ours that changes the arguments, then the call is
    stopped."""
    results = await decide(lab, lab.driver(EMAIL, between=[Changing(to="evil")]), "approve")
    assert results["c1"][0] == "error"
    assert "NOT executed" in results["c1"][1]
    assert lab.effects == []


async def test_a_free_call_of_a_reviewed_turn_runs_as_the_model_wrote_it(lab: Lab) -> None:
    """Given a free call beside a reviewed one, when its arguments were changed, then it is stopped."""
    turn = [call("c1", "read", topic="x"), call("c2", "run_sql", query="y")]
    results = await decide(lab, lab.driver(turn, between=[Changing(topic="z")]), "reject")
    assert "NOT executed" in results["c1"][1]
    assert lab.effects == []


async def test_a_reviewed_tool_that_raises_is_reported_and_told(lab: Lab) -> None:
    """Given an approved tool that raises, then its card says what, the model is told, siblings run,
    and the run continues."""
    asking = {**ASKING, "explode": True, "refuse": True}
    turn = [
        call("c1", "explode", fuse="f"),
        call("c2", "send_email", to="a"),
        call("c3", "refuse", why="w"),
    ]
    driver = lab.driver(turn, asking=asking)
    results = await decide(lab, driver, "approve", "approve", "approve")
    assert results["c1"] == ("error", "RuntimeError: boom f\nsecond line")
    assert results["c3"] == ("error", "no: w")
    [review] = await lab.all_reviews("t-1")
    lines = {key: run.line for key, run in review.runs.items()}
    assert lines == {"1": "failed: RuntimeError: boom f", "2": "sent a", "3": "failed: no: w"}


async def test_a_free_tool_that_raises_stops_the_run_which_is_resumed_later(
    lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a free tool that raises in a reviewed turn, then nothing that was approved is lost or
    runs twice, and the log has the review's id and not the arguments."""
    turn = [call("c1", "send_email", to="a"), call("c2", "explode", fuse="secret")]
    driver = lab.driver(turn)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await wait_until("two attempts", lambda: lab.effects.count("lit secret") >= 2)
    assert lab.effects.count("sent a") == 1
    assert str(paused.review_id) in caplog.text
    assert "secret" not in caplog.text


async def test_a_tool_that_langgraph_cancels_is_reported_anyway(lab: Lab) -> None:
    """Given an approved tool that still works when a free one raises, so that LangGraph cancels it,
    then it runs to its end, is reported, and nobody has to be asked whether it ran."""
    lit = asyncio.Event()

    @tool
    async def slow(to: str) -> str:
        """Work on after the other tool raised."""
        await lit.wait()
        await asyncio.sleep(0.05)
        return f"slowly {to}"

    @tool
    async def explode() -> str:
        """Raise."""
        lit.set()
        raise RuntimeError

    agent = create_agent(
        Script(turns=[[call("c1", "slow", to="a"), call("c2", "explode")]]),
        [slow, explode],
        middleware=[HumanInTheLoopMiddleware({"slow": True})],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.claimed(paused.review_id, fence=2)
    review = await lab.review(paused.review_id)
    assert (review.runs["1"].state, review.runs["1"].line) == ("done", "slowly a")


@pytest.mark.parametrize("ail", [StoreUnavailable("away"), StoreError("full")])
async def test_a_result_that_could_not_be_reported_is_kept(
    saver: AsyncSqliteSaver, tmp_path: Path, ail: HitlError
) -> None:
    """Given a store that goes away, or refuses, while the tool runs, then the model gets the result,
    and the card gets its line with the end of the run."""
    store = AilingStore()
    async with Gate(store, policy=POLICY, agent="billing") as gate:
        gate.reviews = Reviews(store, retry_seconds=0.05)
        lab = Lab(gate, saver, tmp_path)

        async def cut() -> None:
            store.ails = ail

        async def keep_stop(run: Any) -> None:
            store.ails = None
            lab.stops.append(run)

        driver = lab.driver(EMAIL, during=cut)
        async with lab.serving(driver, keep_stop):
            paused = await driver.run(go(), thread_id="t-1")
            await lab.decide(paused.review_id, "approve")
            review = await lab.done(paused.review_id)
    assert answers(lab.stops[0])["c1"] == ("success", "sent a")
    assert review.runs["1"].line == "sent a"


async def test_a_store_that_is_away_for_a_moment_stops_no_free_call(
    saver: AsyncSqliteSaver, tmp_path: Path
) -> None:
    """Given a call that needs nobody, and a store that does not answer when the guard asks whether the call
    has a review; then the guard asks again, and the call runs."""
    store = AilingStore()
    async with Gate(store, policy=POLICY, agent="billing") as gate:
        lab = Lab(gate, saver, tmp_path)
        driver = lab.driver([call("c1", "read", topic="x")])
        store.unanswered = 1
        await driver.run(go(), thread_id="t-1")
    assert store.unanswered == 0
    assert lab.effects == ["read x"]


async def test_a_result_after_the_end_of_the_lease_is_not_used(lab: Lab) -> None:
    """Given a tool that worked longer than the lease held, then the run is not this process's any more:
    it stops, a person is asked about the call, and what that person says is what the model gets."""

    async def slow() -> None:
        await lab.end_lease(paused.review_id)

    async def is_in_doubt() -> bool:
        return bool((await lab.review(paused.review_id)).calls_in_doubt)

    driver = lab.driver(EMAIL, during=slow)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await wait_until("a doubt", is_in_doubt)
        assert lab.stops == []
        await lab.resolve(paused.review_id, "ran")
        await lab.done(paused.review_id)
    assert lab.effects == ["sent a"]
    assert answers(lab.stops[0])["c1"][1].endswith("“Alice” (U1) confirmed it.")


async def test_a_reviewed_call_does_not_run_without_the_driver(lab: Lab) -> None:
    """Given a pending review, when somebody resumes the graph by hand, then the reviewed call does
    not run."""
    agent = lab.agent([*EMAIL, call("c2", "read", topic="x")])
    paused = await lab.reviews.drive(agent).run(go(), thread_id="t-1")
    config: Any = {"configurable": {"thread_id": "t-1"}}
    await agent.ainvoke(Command(resume=APPROVED), config)
    assert lab.effects == ["read x"]
    assert (await lab.review(paused.review_id)).status == "pending"


async def test_sync_invoke_in_a_thread_is_guarded_as_well(lab: Lab) -> None:
    """Given `invoke` in a thread of its own, then denied calls are stopped and free ones run."""
    lab.set_policy(default="allow", interrupt_on={"run_sql": "deny"})
    agent = lab.sync_agent([call("c1", "read", topic="x"), call("c2", "run_sql", query="y")])
    state = await asyncio.to_thread(agent.invoke, go())
    assert lab.effects == ["read x"]
    assert "The policy doesn't allow `run_sql`" in state["messages"][-2].text


async def test_sync_invoke_inside_the_loop_says_what_to_do(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given `invoke` on the gate's own loop, where nothing could be awaited, then one sentence, and
    nothing runs."""
    monkeypatch.setattr(guard, "LOOP_TIMEOUT", 0.1)
    agent = lab.sync_agent([call("c1", "read", topic="x")])
    with pytest.raises(IntegrationError, match="ainvoke"):
        agent.invoke(go())
    assert lab.effects == []


@pytest.mark.parametrize("others", [[], EMAIL], ids=["alone", "with a review"])
async def test_a_model_that_misspells_a_tool_reads_that_there_is_none(
    lab: Lab, others: Any
) -> None:
    """And not what to change in the policy: also beside a call that people reviewed."""
    lab.set_policy(default="review", interrupt_on={})
    driver = lab.driver([*others, call("c9", "send_emial", to="a")])
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        if others:
            await lab.decide(run.review_id, "approve")
            await lab.done(run.review_id)
            run = lab.stops[-1]
    assert "This agent has no tool `send_emial`" in answers(run)["c9"][1]


@pytest.mark.parametrize("thing", [None, Script(turns=[])], ids=["nothing", "a model"])
async def test_what_is_no_graph_is_refused(lab: Lab, thing: Any) -> None:
    with pytest.raises(IntegrationError, match="`drive` needs a compiled graph"):
        lab.reviews.drive(thing)


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
async def test_a_checkpointer_that_forgets_is_refused(lab: Lab, saver: Any) -> None:
    lab.saver = saver
    with pytest.raises(IntegrationError, match="AsyncSqliteSaver"):
        lab.reviews.drive(lab.agent(EMAIL))
    if saver is not None:
        lab.reviews.drive(lab.agent(EMAIL), allow_in_memory=True)


async def test_static_breakpoints_are_refused(lab: Lab, tmp_path: Path) -> None:
    agent = create_agent(
        Script(turns=[]),
        tools(tmp_path),
        checkpointer=lab.saver,
        interrupt_before=["tools"],
    )
    with pytest.raises(IntegrationError, match="interrupt_before"):
        lab.reviews.drive(agent)


async def test_without_langchain_the_import_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given an environment without LangChain, then the error is a sentence with the command."""
    import importlib
    import sys

    for name in [name for name in sys.modules if name.startswith("hitl_core.integrations")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langchain.agents.middleware", None)
    with pytest.raises(IntegrationError, match=r'pip install "hitl-core\[langgraph\]"'):
        importlib.import_module("hitl_core.integrations.langgraph")
