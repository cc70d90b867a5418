"""LangChain's `interrupt_mode="per_call"`: one interrupt for each call, but still one review
for each turn.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.gate import Gate
from tests.integrations.agents import (
    ASKING,
    POLICY,
    Lab,
    Script,
    answers,
    call,
    flipping,
    go,
    tools,
)
from tests.support.waiting import wait_until

PER_CALL: Any = {"interrupt_mode": "per_call"}
CONFIG: Any = {"configurable": {"thread_id": "t-1"}}
TURN = [
    call("c1", "send_email", to="a"),
    call("c2", "read", topic="x"),
    call("c3", "send_email", to="b"),
    call("c4", "run_sql", query="DROP TABLE t"),
]
EMAILS = [call(f"c{n}", "send_email", to=to) for n, to in enumerate("abc", start=1)]


async def decide(lab: Lab, driver: Any, *decisions: Any) -> dict[str, tuple[str, str]]:
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, *decisions)
        await lab.done(paused.review_id)
    return answers(lab.stops[-1])


async def test_a_turn_of_many_interrupts_is_one_review_and_every_call_does_what_was_decided(
    lab: Lab,
) -> None:
    """Given a turn of three calls that interrupt and a free one, then the free one runs at once and there is
    one review; when all are decided, then each does what was decided and the model gets all results."""
    driver = lab.driver(TURN, **PER_CALL)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1", requester="U0MARIA")
        assert (paused.finished, paused.unknown, lab.effects) == (False, (), ["read x"])
        review = await lab.review(paused.review_id)
        assert [c.verdict.kind for c in review.calls] == ["review", "allow", "review", "review"]
        assert review.requester == "U0MARIA"
        await lab.decide(paused.review_id, "approve", {"to": "E"}, ("reject", "not on my watch"))
        review = await lab.done(paused.review_id)
    [run] = lab.stops
    assert run.finished
    assert lab.effects == ["read x", "sent a", "sent E"]
    results = answers(run)
    assert results["c1"] == ("success", "sent a")
    assert results["c2"] == ("success", "read x")
    assert results["c3"][1].startswith("Note: a human reviewer replaced this tool call")
    assert results["c3"][1].endswith("Tool response:\nsent E")
    reason = "User rejected the tool call for `run_sql` with reason: not on my watch"
    assert results["c4"] == ("error", reason)
    assert {key: run.line for key, run in review.runs.items()} == {"1": "sent a", "3": "sent E"}
    assert (len(await lab.all_reviews("t-1")), review.fence) == (1, 1)


async def test_a_review_says_what_each_interrupt_takes(lab: Lab) -> None:
    """Given interrupts that take some decisions, one, or all, then the review has the same, with LangChain's
    own texts and the tool's schema."""
    asking = {
        "send_email": True,
        "run_sql": {"allowed_decisions": ["edit"], "description": "Look."},
    }
    paused = await lab.driver(TURN, asking=asking, **PER_CALL).run(go(), thread_id="t-1")
    first, _, sql = (await lab.review(paused.review_id)).actions
    assert first.config.allowed_decisions == ("approve", "edit", "reject", "respond")
    assert first.request.description == "Tool execution requires approval"
    assert (sql.config.allowed_decisions, sql.request.description) == (("edit",), "Look.")
    assert sql.config.args_schema
    assert set(sql.config.args_schema["properties"]) == {"query"}


async def test_a_real_redis_carries_a_review_from_one_process_to_another(
    redis_url: str, saver: AsyncSqliteSaver, tmp_path: Path
) -> None:
    """Given a run paused by a process that ended, when it is decided, then another process finishes
    it."""
    async with Gate.connect(redis_url, policy=POLICY, agent="billing", lease=1.0) as gate:
        paused = (
            await Lab(gate, saver, tmp_path).driver(TURN, **PER_CALL).run(go(), thread_id="t-1")
        )
    async with Gate.connect(redis_url, policy=POLICY, agent="billing", lease=1.0) as gate:
        lab = Lab(gate, saver, tmp_path)
        async with lab.serving(lab.driver(TURN, **PER_CALL)):
            await lab.decide(paused.review_id, "approve", "approve", "reject")
            await lab.done(paused.review_id)
    assert lab.effects == ["read x", "sent a", "sent b"]


async def test_answers_are_given_one_after_the_other_in_the_models_order(lab: Lab) -> None:
    """Given three approved calls, then each has ended before the next one's answer is given."""
    seen: list[str] = []

    class Watching(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            seen.append(f"{request.tool_call['id']} begins")
            result = await handler(request)
            seen.append(f"{request.tool_call['id']} ends")
            return result

    driver = lab.driver(EMAILS, between=[Watching()], **PER_CALL)
    await decide(lab, driver, "approve", "approve", "approve")
    assert seen == [f"c{n} {what}" for n in (1, 2, 3) for what in ("begins", "ends")]


async def test_nothing_is_resumed_until_every_call_is_decided(lab: Lab) -> None:
    """Given two of three calls decided, then the run stays paused; with the third it continues."""
    driver = lab.driver(EMAILS, **PER_CALL)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        review = await lab.review(paused.review_id)
        for action in review.actions[:2]:
            await lab.decide_one(review.id, action, "approve")
        assert (await lab.review(review.id)).status == "pending"
        assert await lab.gate.reviews.store.ready_reviews("billing", limit=10) == []
        assert lab.effects == []
        await lab.decide_one(review.id, review.actions[2], ("reject", "no"))
        await lab.done(review.id)
    assert lab.effects == ["sent a", "sent b"]


@pytest.mark.parametrize(
    ("decision", "texts"),
    [
        (("respond", "I called them."), ("success", "I called them.")),
        (
            "reject",
            ("error", "User rejected the tool call for `send_email` with id c1. The tool was"),
        ),
        (
            "ignore",
            ("error", "User rejected the tool call for `send_email` with reason: The tool call"),
        ),
    ],
)
async def test_a_call_that_does_not_run_is_told_as_in_the_other_mode(
    lab: Lab, decision: Any, texts: tuple[str, str]
) -> None:
    rule = {"allowed_decisions": ["approve", "reject", "respond", "ignore"]}
    lab.set_policy(default="allow", interrupt_on={"send_email": rule})
    status, text = (await decide(lab, lab.driver(TURN[:1], **PER_CALL), decision))["c1"]
    assert (status, text.startswith(texts[1])) == (texts[0], True)
    assert lab.effects == []


async def test_the_policy_denies_what_interrupts_and_what_does_not(lab: Lab) -> None:
    """Given a policy that denies two tools, of which LangChain asks about one, then neither runs, the model
    gets the policy's reason, and nobody is asked."""
    lab.set_policy(default="allow", interrupt_on={"send_email": "deny", "read": "deny"})
    driver = lab.driver(TURN[:2], **PER_CALL)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        review = await lab.done(paused.review_id)
    results = answers(lab.stops[0])
    assert (review.actions, lab.effects) == ((), [])
    assert "The policy doesn't allow `send_email`" in results["c1"][1]
    assert results["c2"][1].startswith("The policy doesn't allow `read`")


@pytest.mark.parametrize(
    ("ids", "sentence"), [(("", "c2"), "no `id`"), (("c1", "c1"), "Two calls")]
)
async def test_calls_that_cannot_be_told_apart_are_refused_in_one_sentence(
    lab: Lab, ids: tuple[str, str], sentence: str
) -> None:
    turn = [call(id, "send_email", to="a") for id in ids]
    with pytest.raises(InvalidToolCall, match=sentence):
        await lab.driver(turn, **PER_CALL).run(go(), thread_id="t-1")
    assert lab.effects == []


async def test_identical_calls_keep_their_own_decisions(lab: Lab) -> None:
    """Given two identical calls of which a predicate gates only the second, then the decision is
    that one's: each interrupt says which call it is about."""
    asking = {
        "send_email": {
            "allowed_decisions": ["approve", "reject"],
            "when": lambda request: request.tool_call["id"] == "c2",
        }
    }
    same = [call("c1", "send_email", to="a"), call("c2", "send_email", to="a")]
    results = await decide(lab, lab.driver(same, asking=asking, **PER_CALL), ("reject", "once"))
    assert lab.effects == ["sent a"]
    assert (results["c1"][0], results["c2"][0]) == ("success", "error")


@pytest.mark.parametrize(
    ("decision", "effects"), [("approve", ["sent a"]), ({"to": "E"}, []), (("reject", "no"), [])]
)
async def test_a_predicate_that_flips_at_the_resume_runs_nothing_else_than_what_was_decided(
    lab: Lab, decision: Any, effects: list[str]
) -> None:
    """Given a `when` that says False at the resume, so that LangChain skips the answer, then the
    guard obeys the review."""
    kinds = ["approve", "edit", "reject"]
    asking = {"send_email": {"allowed_decisions": kinds, "when": flipping(True, False)}}
    await decide(lab, lab.driver(TURN[:1], asking=asking, **PER_CALL), decision)
    assert lab.effects == effects


async def test_a_turn_is_not_submitted_before_all_of_it_has_asked(lab: Lab) -> None:
    """Given a free tool that raises beside two interrupts, then nobody is asked yet and new input has
    to wait; when the run continues, then there is one review with both calls."""
    broken = lab.folder / "broken"
    broken.touch()

    @tool
    def look(at: str) -> str:
        """Raise while something is broken."""
        if broken.exists():
            raise RuntimeError("broken")
        return f"looked at {at}"

    agent = create_agent(
        Script(turns=[[EMAILS[0], call("c2", "look", at="x"), EMAILS[2]]]),
        [*tools(lab.folder / "effects"), look],
        middleware=[HumanInTheLoopMiddleware(ASKING, **PER_CALL)],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    with pytest.raises(RuntimeError, match="broken"):
        await driver.run(go(), thread_id="t-1")
    with pytest.raises(Refused, match=r"run\(None\) continues it"):
        await driver.run(go("again"), thread_id="t-1")
    assert await lab.all_reviews("t-1") == []
    broken.unlink()
    paused = await driver.run(None, thread_id="t-1")
    assert [a.key for a in (await lab.review(paused.review_id)).actions] == ["1", "3"]


async def test_a_turn_that_another_process_is_running_is_left_to_it(lab: Lab) -> None:
    """Given a process in the middle of a turn, one call of which has asked while a free one still
    works, when another process looks after the thread, then it doesn't submit an incomplete turn."""
    end = asyncio.Event()

    @tool
    async def slow() -> str:
        """Work until the end."""
        await end.wait()
        return "slept"

    agent = create_agent(
        Script(turns=[EMAILS[:1], [call("d1", "send_email", to="d"), call("d2", "slow")]]),
        [*tools(lab.folder / "effects"), slow],
        middleware=[HumanInTheLoopMiddleware(ASKING, **PER_CALL)],
        checkpointer=lab.saver,
    )

    async def second_turn_asks() -> bool:
        interrupts = (await agent.aget_state(CONFIG)).interrupts
        return any(one.value["tool_call_id"] == "d1" for one in interrupts)

    driver, other = lab.reviews.drive(agent), lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await wait_until("the second turn's question", second_turn_asks)
        again = asyncio.create_task(other.run(None, thread_id="t-1"))
        await asyncio.wait([again], timeout=0.1)
        assert not again.done()
        assert len(await lab.all_reviews("t-1")) == 1
        end.set()
        await lab.done(paused.review_id)
        assert lab.stops[0].review_id in (await again).review_ids
    assert len((await lab.review(lab.stops[0].review_id)).actions) == 1
