"""A tool that runs after an approval asks a question: this is the next review of the same thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.errors import ParentCommand
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from tests.integrations.agents import Lab, Script, answers, call, go, tools
from tests.support.waiting import wait_until

MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])
CONFIG: Any = {"configurable": {"thread_id": "t-1"}}


def asks(to: str) -> dict[str, Any]:
    """A tool's own question, as Agent Inbox reads it."""
    config = {"allow_accept": True, "allow_respond": True, "allow_ignore": True}
    return {"action_request": {"action": "transfer", "args": {"to": to}}, "config": config}


def agent(
    lab: Lab, turn: Sequence[Any], ask: Any = asks, mode: Any = "batched", **hitl: Any
) -> Any:
    """Its reviewed tool `pay` notes that it begins, asks, and notes what it did with the answer."""

    def note(line: str) -> None:
        with (lab.folder / "effects").open("a") as file:
            file.write(line + "\n")

    @tool
    def pay(to: str) -> str:
        """Pay somebody, and ask before the transfer."""
        note(f"begin {to}")
        answer = interrupt(ask(to))
        results = answer[0] if isinstance(answer, list) else answer
        if isinstance(results, dict) and results["type"] == "explode":
            raise RuntimeError("boom")
        note(f"paid {to}")
        return f"paid {to}: {results if isinstance(results, str) else results['type']}"

    return create_agent(
        Script(turns=[turn]),
        [*tools(lab.folder / "effects"), pay],
        middleware=[
            HumanInTheLoopMiddleware(
                {"pay": True, "send_email": True}, interrupt_mode=mode, **hitl
            ),
        ],
        checkpointer=lab.saver,
    )


@MODES
async def test_a_reviewed_tool_that_asks_becomes_the_next_review_and_goes_on_with_its_answer(
    lab: Lab, mode: str
) -> None:
    """Given an approved tool that interrupts, then its question is the next review of the thread, its first
    card says so, and when it is decided the tool continues and the model gets its result."""
    driver = lab.reviews.drive(agent(lab, [call("c1", "pay", to="a")], mode=mode))
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1", requester="U0MARIA")
        await lab.decide(paused.review_id, "approve")
        first = await lab.done(paused.review_id)
        [stop] = lab.stops
        second = await lab.review(stop.review_id)
        assert (second.dialect, second.requester) == ("agent_inbox", "U0MARIA")
        assert second.actions[0].request.name == "transfer"
        assert first.runs["1"].state == "paused"
        await lab.decide(second.id, "approve")
        await lab.done(second.id)
    assert answers(lab.stops[-1])["c1"] == ("success", "paid a: accept")
    assert lab.effects == ["begin a", "begin a", "paid a"]
    assert len(await lab.all_reviews("t-1")) == 2


@MODES
async def test_several_tools_that_ask_are_all_shown_and_answered_one_by_one(
    lab: Lab, mode: str
) -> None:
    """Given three approved calls, two of which ask, then there is a review for each of these at once; what
    is not answered yet is not run again, and the third call ran once."""
    turn = [call("c1", "pay", to="a"), call("c2", "send_email", to="m"), call("c3", "pay", to="b")]
    driver = lab.reviews.drive(agent(lab, turn, mode=mode))
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve", "approve", {"to": "E"})
        await lab.done(paused.review_id)
        [stop] = lab.stops
        assert len(stop.review_ids) == 2
        for review_id in stop.review_ids:
            await lab.decide(review_id, "approve")
            await lab.done(review_id)
    results = answers(lab.stops[-1])
    assert (results["c1"][1], results["c2"][1]) == ("paid a: accept", "sent m")
    assert results["c3"][1].endswith("paid E: accept")
    assert results["c3"][1].count("Executed instead") == 1
    assert sorted(lab.effects) == sorted(
        ["begin a", "sent m", "begin E", "begin a", "paid a", "begin E", "paid E"]
    )


async def test_an_unknown_question_is_answered_by_the_caller(lab: Lab) -> None:
    """Given an approved tool that asks in a format of its own, then the run stops at it as unknown, and its
    answer finishes the call."""
    turn = [call("c1", "pay", to="a")]
    driver = lab.reviews.drive(agent(lab, turn, lambda to: {"question": to}))
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    [question] = lab.stops[0].unknown
    run = await driver.run(Command(resume={question.id: "yes"}), thread_id="t-1")
    assert answers(run)["c1"] == ("success", "paid a: yes")


async def test_without_the_driver_the_tool_does_not_continue(lab: Lab) -> None:
    """Given a tool that asks, when somebody answers the graph by hand, then it does not continue."""
    pays = agent(lab, [call("c1", "pay", to="a")])
    driver = lab.reviews.drive(pays)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    state = await pays.ainvoke(Command(resume=[{"type": "accept"}]), CONFIG)
    assert "NOT executed" in state["messages"][-2].text
    assert lab.effects == ["begin a"]


async def test_a_tool_that_asks_twice_is_reviewed_twice(lab: Lab) -> None:
    """Given a tool with two questions one after the other, then each is a review, and one that is rejected
    by its deadline is told so."""

    @tool
    def pay(to: str) -> str:
        """Ask twice."""
        first = interrupt(asks("first"))
        second = interrupt(asks("second"))
        return f"{first[0]['type']}, {second[0]['type']}"

    rule = {"allowed_decisions": ["approve"], "expire": {"after": "1s"}}
    lab.set_policy(default="allow", interrupt_on={"transfer": rule})
    driver = lab.reviews.drive(
        create_agent(
            Script(turns=[[call("c1", "pay", to="a")]]),
            [pay],
            middleware=[HumanInTheLoopMiddleware({"pay": True})],
            checkpointer=lab.saver,
        )
    )
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
        await lab.decide(lab.stops[0].review_id, "approve")
        await wait_until("the end", lambda: lab.stops[-1].finished)
    assert answers(lab.stops[-1])["c1"] == ("success", "accept, ignore")


async def test_a_tool_that_raises_on_its_answer_is_told_and_the_run_goes_on(lab: Lab) -> None:
    driver = lab.reviews.drive(agent(lab, [call("c1", "pay", to="a")], lambda to: {"question": to}))
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    [question] = lab.stops[0].unknown
    run = await driver.run(Command(resume={question.id: {"type": "explode"}}), thread_id="t-1")
    assert answers(run)["c1"] == ("error", "RuntimeError: boom")


@MODES
@pytest.mark.parametrize("rule", ["pay", "send_email"])
async def test_a_tool_that_asks_continues_where_values_are_hidden(
    lab: Lab, mode: str, rule: str
) -> None:
    """Given a review that hides values, of this call or of another one, and an approved tool that asks a
    question of its own, when the question is approved, then the tool continues with that answer."""
    lab.set_policy(default="allow", interrupt_on={rule: {"redact": ["/to"]}})
    turn = [call("c1", "pay", to="a"), call("c2", "send_email", to="b")]
    driver = lab.reviews.drive(agent(lab, turn, mode=mode))
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve", "approve")
        first = await lab.done(paused.review_id)
        assert first.hides_values
        assert first.runs["1"].state == "paused"
        [stop] = lab.stops
        await lab.decide(stop.review_id, "approve")
        await lab.done(stop.review_id)
    assert answers(lab.stops[-1])["c1"] == ("success", "paid a: accept")
    assert sorted(lab.effects) == ["begin a", "begin a", "paid a", "sent b"]


async def test_a_result_that_looks_like_a_pause_opens_nothing(lab: Lab) -> None:
    """Given a tool whose result is the sentence with which a card tells of a pause, then the call is done:
    nobody takes it for one that may continue."""
    line = "asks a question of its own before it continues"

    @tool
    def run_sql(query: str) -> str:
        """Answer with the query."""
        return query

    driver = lab.reviews.drive(
        create_agent(
            Script(turns=[[call("c1", "run_sql", query=line)]]),
            [run_sql],
            middleware=[HumanInTheLoopMiddleware({"run_sql": True})],
            checkpointer=lab.saver,
        )
    )
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        review = await lab.done(paused.review_id)
    assert (review.runs["1"].state, review.runs["1"].line) == ("done", line)


async def test_a_free_tool_that_asks_becomes_a_review_as_well(lab: Lab) -> None:
    """Given a call that nobody has to approve, whose tool asks beside a reviewed call, then both are
    reviews, and each continues with its own answer."""

    @tool
    def book(to: str) -> str:
        """Ask before booking."""
        return f"booked: {interrupt(asks(to))[0]['type']}"

    turn = [call("c1", "send_email", to="a"), call("c2", "book", to="b")]
    driver = lab.reviews.drive(
        create_agent(
            Script(turns=[turn]),
            [*tools(lab.folder / "effects"), book],
            middleware=[HumanInTheLoopMiddleware({"send_email": True})],
            checkpointer=lab.saver,
        )
    )
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
        await lab.decide(lab.stops[0].review_id, "approve")
        await wait_until("the end", lambda: lab.stops[-1].finished)
    assert lab.effects == ["sent a"]
    assert answers(lab.stops[-1])["c2"] == ("success", "booked: accept")


async def test_a_tool_that_hands_over_is_not_run_again_with_a_retry(lab: Lab) -> None:
    """K1: given an approved tool that leaves by a handoff, and a free tool beside it that fails twice, then
    the retries don't run it again."""
    ran: list[str] = []
    over = asyncio.Event()

    @tool
    async def hand_over(to: str) -> str:
        """Have an effect, then go to another node."""
        ran.append("hand_over")
        over.set()
        await asyncio.sleep(0.3)  # LangGraph cancels it meanwhile: its end is not what is tested
        raise ParentCommand(Command(graph=Command.PARENT, goto="other"))

    @tool
    async def flaky(x: str) -> str:
        """Fail twice, while the other tool works."""
        await over.wait()
        ran.append("flaky")
        if ran.count("flaky") < 3:
            raise RuntimeError("flaky")
        return "ok"

    inner = create_agent(
        Script(turns=[[call("c1", "hand_over", to="a"), call("c2", "flaky", x="1")]]),
        [hand_over, flaky],
        middleware=[HumanInTheLoopMiddleware({"hand_over": True})],
    )
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner)
    graph.add_node("other", lambda state: {})
    graph.add_edge(START, "inner")
    driver = lab.reviews.drive(graph.compile(checkpointer=lab.saver))
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await wait_until("three attempts", lambda: ran.count("flaky") == 3)
    assert ran.count("hand_over") == 1


class Again(AgentMiddleware[Any, Any, Any]):
    """Starts a tool a second time when it left by a handoff."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except ParentCommand:
            return await handler(request)


async def test_a_tool_that_asked_goes_on_once_for_its_answer(lab: Lab) -> None:
    """K1: given an approved tool that asks, hands over when it has its answer, and is then started again by a
    middleware, then it is not run again."""
    ran: list[str] = []

    @tool
    async def hand_over(to: str) -> str:
        """Ask, then go to another node."""
        interrupt({"question": to})
        ran.append(to)
        raise ParentCommand(Command(graph=Command.PARENT, goto="other"))

    agent = create_agent(
        Script(turns=[[call("c1", "hand_over", to="a")]]),
        [hand_over],
        middleware=[Again(), HumanInTheLoopMiddleware({"hand_over": True})],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    [question] = lab.stops[0].unknown
    run = await driver.run(Command(resume={question.id: "yes"}), thread_id="t-1")
    assert "was started before" in answers(run)["c1"][1]
    assert ran == ["a"]
